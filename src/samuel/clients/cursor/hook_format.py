"""Hooks in the format of Cursor's hooks.json, written from its documentation.

A hook reads one JSON object and prints one. Exit code 2 denies; any other code but 0 is a fault of the hook.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.clients.hook_formats.file_input import common_input, native_input
from samuel.clients.hook_formats.hook_format import (
    HookFailed,
    HookFormat,
    HookOutput,
    InvalidAnswer,
    Payload,
    Result,
    extra,
    native_tool_name,
    parsed_answer,
    text,
    verdict,
)
from samuel.events import names
from samuel.files.json import write

SHELL_EVENTS = ("beforeShellExecution", "afterShellExecution")
MCP_EVENTS = ("beforeMCPExecution", "afterMCPExecution")
EVENTS: Mapping[str, str] = {
    "sessionStart": names.SESSION_START,
    "beforeSubmitPrompt": names.USER_PROMPT_SUBMIT,
    "preToolUse": names.PRE_ABILITY_CALL,
    "beforeShellExecution": names.PRE_ABILITY_CALL,
    "beforeMCPExecution": names.PRE_ABILITY_CALL,
    "postToolUse": names.POST_ABILITY_CALL,
    "postToolUseFailure": names.POST_ABILITY_CALL,
    "afterShellExecution": names.POST_ABILITY_CALL,
    "afterMCPExecution": names.POST_ABILITY_CALL,
    "afterFileEdit": names.POST_ABILITY_CALL,
    "afterAgentResponse": names.TURN_END,
    "stop": names.SESSION_STOP,
    "sessionEnd": names.SESSION_END,
}
TOOL_NAMES: Mapping[str, tuple[str, ...]] = {
    "shell": ("Shell",),
    "edit": ("Write", "Edit", "StrReplace"),
    "write": ("Write",),
    "read": ("Read",),
    "search": ("Grep",),
    "fetch": ("WebFetch",),
    "task": ("Task",),
}
DENIED = 2
UNNAMED = "denied without a reason"


def translate_payload(client_event: str, payload: Payload) -> dict[str, Any]:
    """What a hook of this event reads."""
    root, fields = payload.get("project_root", ""), extra(payload)
    return {
        "conversation_id": payload.get("session_id", ""),
        "generation_id": payload.get("event_id", ""),
        "hook_event_name": client_event,
        "workspace_roots": [root],
        **_event_fields(client_event, payload, fields),
    }


def _event_fields(client_event: str, payload: Payload, fields: Mapping[str, Any]) -> dict[str, Any]:
    cwd = text(fields.get("cwd")) or payload.get("project_root", "")
    tool_input, tool_output = payload.get("tool_input", {}), payload.get("tool_output", "")
    duration = {"duration": payload["duration_ms"]} if "duration_ms" in payload else {}
    match client_event:
        case "beforeShellExecution":
            return {"command": _field(tool_input, "command"), "cwd": cwd}
        case "afterShellExecution":
            return {"command": _field(tool_input, "command"), "output": _as_text(tool_output), **duration}
        case "beforeMCPExecution":
            return {"tool_name": _mcp_tool(payload), "tool_input": _as_text(tool_input)}
        case "afterMCPExecution":
            result = {"result_json": _as_text(tool_output)}
            return {"tool_name": _mcp_tool(payload), "tool_input": _as_text(tool_input), **result, **duration}
        case "afterFileEdit":
            return {"file_path": _field(tool_input, "path"), "edits": _edits(tool_input)}
        case "preToolUse":
            return {**_tool_call(payload, fields), "cwd": cwd}
        case "postToolUse":
            return {**_tool_call(payload, fields), "tool_output": _as_text(tool_output), "cwd": cwd, **duration}
        case "postToolUseFailure":
            return {**_tool_call(payload, fields), "error_message": _as_text(tool_output), "cwd": cwd, **duration}
        case "beforeSubmitPrompt":
            return {"prompt": payload.get("user_message", ""), "attachments": []}
        case "afterAgentResponse":
            return {"text": payload.get("response", "")}
        case "stop":
            return {"status": "completed", "loop_count": 0}
        case "sessionStart":
            return {"session_id": payload.get("session_id", ""), "is_background_agent": False}
        case _:
            return {"session_id": payload.get("session_id", ""), "reason": "completed"}


def _tool_call(payload: Payload, fields: Mapping[str, Any]) -> dict[str, Any]:
    ability_id = str(payload.get("ability_id", ""))
    return {
        "tool_name": native_tool_name(FORMAT, ability_id),
        "tool_input": native_input(ability_id, payload.get("tool_input", {})),
        "tool_use_id": text(fields.get("call_id")) or payload.get("event_id", ""),
    }


def _mcp_tool(payload: Payload) -> str:
    return str(payload.get("ability_id", "")).rpartition("/")[2]


def _field(tool_input: Any, key: str) -> str:
    return text(tool_input.get(key)) if isinstance(tool_input, dict) else ""


def _edits(tool_input: Any) -> list[dict[str, str]]:
    """The edits of a call, where its tool replaces one text by another; a written file is one edit."""
    if not isinstance(tool_input, dict):
        return []
    new = text(tool_input.get("new_string")) or text(tool_input.get("content"))
    return [{"old_string": text(tool_input.get("old_string")), "new_string": new}]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else write(value).decode()


def translate_output(client_event: str, payload: Payload, output: HookOutput) -> Result:
    """What the output of a hook means."""
    event = EVENTS[client_event]
    if output.exit_code == DENIED:
        return _denied(event, output.stderr.strip() or output.stdout.strip() or UNNAMED)
    if output.exit_code != 0:
        raise HookFailed
    printed = output.stdout.strip()
    return _answer(event, payload, parsed_answer(printed)) if printed else {}


def _answer(event: str, payload: Payload, answer: Mapping[str, Any]) -> Result:
    for_agent = text(answer.get("agent_message")) or text(answer.get("agentMessage"))
    for_user = text(answer.get("user_message")) or text(answer.get("userMessage"))
    result: Result = {}
    permission = answer.get("permission", answer.get("decision"))
    if answer.get("continue") is False:
        result = _denied(event, for_user or for_agent or UNNAMED)
    elif permission is not None and event == names.PRE_ABILITY_CALL:
        if permission not in ("allow", "deny", "ask"):
            raise InvalidAnswer("its permission must be one of allow, deny, ask")
        result = verdict(permission, for_agent or for_user or (UNNAMED if permission == "deny" else ""))
    rewritten = answer.get("updated_input")
    if event == names.PRE_ABILITY_CALL and rewritten is not None and result.get("decision") != "deny":
        result["tool_input"] = common_input(payload.get("ability_id"), rewritten)
    if event == names.POST_ABILITY_CALL and answer.get("updated_mcp_tool_output") is not None:
        result["tool_output"] = answer["updated_mcp_tool_output"]
    if event == names.SESSION_STOP and (message := text(answer.get("followup_message"))):
        result["follow_up_messages"] = [message]
    context = text(answer.get("additional_context"))
    for_people = for_user if for_user != result.get("reason") else ""
    if texts := [message for message in (for_people, context) if message]:
        result["messages_to_user"] = [*result.get("messages_to_user", ()), *texts]
    return result


def _denied(event: str, reason: str) -> Result:
    if event in (names.PRE_ABILITY_CALL, names.USER_PROMPT_SUBMIT):
        return verdict("deny", reason)
    return {"messages_to_user": [reason]}


FORMAT = HookFormat(
    client="cursor",
    events=EVENTS,
    translate_payload=translate_payload,
    translate_output=translate_output,
    tool_names=TOOL_NAMES,
    mcp_name="MCP:{tool}",
    project_variable="CURSOR_PROJECT_DIR",
    project_files=(".cursor/hooks.json",),
    user_file=".cursor/hooks.json",
)
