"""Hooks in the format of Cursor's hooks.json, written from its documentation.

A hook reads one JSON object and prints one. Exit code 2 denies; any other code but 0 is a fault of the hook.
A file has lists of commands by event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from samuel.clients.cursor import dialect
from samuel.clients.cursor.dialect import MCP_EVENTS, SHELL_EVENTS
from samuel.clients.dialect.events import POST, PRE, STOP, TURN_END
from samuel.clients.hook_formats.entry import (
    Entry,
    ImportedFile,
    RawEntry,
    hook_entry,
    matcher_text,
    objects,
    tool_match,
)
from samuel.clients.hook_formats.hook_format import (
    HookFormat,
    HookOutput,
    Payload,
    Result,
    blocks,
    common_input,
    denied,
    extra,
    meaning,
    parsed_answer,
    text,
    tool_call,
    verdict,
)
from samuel.clients.hook_formats.matcher import ALL, CLIENT_COMMAND, problem
from samuel.files.json import write

EVENTS = {event: ours for event, ours in dialect.EVENTS.items() if event != "beforeReadFile"}
EVENTS["afterAgentResponse"] = TURN_END
TOOL_NAMES: Mapping[str, tuple[str, ...]] = {
    "shell": ("Shell",),
    "edit": ("Write", "Edit", "StrReplace"),
    "write": ("Write",),
    "read": ("Read",),
    "search": ("Grep",),
    "fetch": ("WebFetch",),
    "task": ("Task",),
}
UNNAMED = "denied without a reason"
PERMISSIONS = {"allow": "allow", "deny": "deny", "ask": "ask"}
STATUS = {"postToolUse": ["success"], "postToolUseFailure": ["failure"], "afterFileEdit": ["success"]}
TOOL_EVENTS = ("preToolUse", "postToolUse", "postToolUseFailure")
NO_CONTENT = "Cursor gives it the content of the file, which the calls of other agents do not have"


def translate_payload(client_event: str, payload: Payload) -> dict[str, Any]:
    """What a hook of this event reads."""
    return {
        "conversation_id": payload.get("session_id", ""),
        "generation_id": payload.get("event_id", ""),
        "hook_event_name": client_event,
        "workspace_roots": [payload.get("project_root", "")],
        **_event_fields(client_event, payload),
    }


def _event_fields(client_event: str, payload: Payload) -> dict[str, Any]:
    cwd = text(extra(payload).get("cwd")) or payload.get("project_root", "")
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
            return {**tool_call(FORMAT, payload), "cwd": cwd}
        case "postToolUse":
            return {**tool_call(FORMAT, payload), "tool_output": _as_text(tool_output), "cwd": cwd, **duration}
        case "postToolUseFailure":
            return {**tool_call(FORMAT, payload), "error_message": _as_text(tool_output), "cwd": cwd, **duration}
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
    if blocks(output):
        return denied(event, output.stderr.strip() or output.stdout.strip() or UNNAMED)
    printed = output.stdout.strip()
    return _answer(event, payload, parsed_answer(printed)) if printed else {}


def _answer(event: str, payload: Payload, answer: Mapping[str, Any]) -> Result:
    for_agent = text(answer.get("agent_message")) or text(answer.get("agentMessage"))
    for_user = text(answer.get("user_message")) or text(answer.get("userMessage"))
    result: Result = {}
    permission = answer.get("permission", answer.get("decision"))
    if answer.get("continue") is False:
        result = denied(event, for_user or for_agent or UNNAMED)
    elif permission is not None and event == PRE:
        permission = meaning(PERMISSIONS, permission, "permission")
        result = verdict(permission, for_agent or for_user or (UNNAMED if permission == "deny" else ""))
    rewritten = answer.get("updated_input")
    if event == PRE and rewritten is not None and result.get("decision") != "deny":
        result["tool_input"] = common_input(payload, rewritten)
    if event == POST and answer.get("updated_mcp_tool_output") is not None:
        result["tool_output"] = answer["updated_mcp_tool_output"]
    if event == STOP and (message := text(answer.get("followup_message"))):
        result["follow_up_messages"] = [message]
    context = text(answer.get("additional_context"))
    for_people = for_user if for_user != result.get("reason") else ""
    if texts := [message for message in (for_people, context) if message]:
        result["messages_to_user"] = [*result.get("messages_to_user", ()), *texts]
    return result


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


def read_entries(file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
    """The entries in the order of the file."""
    # Cursor runs the user's hooks in ~/.cursor, those of a project in its root.
    prelude = f"cd {quote(str(file.path.parent))} || exit 1\n" if file.of_user else ""
    for event, entries in hooks.items():
        for where, fields in objects(entries, f"hooks.{event}"):
            raw = RawEntry(file, FORMAT, event, matcher_text(fields, where), fields, where)
            yield hook_entry(
                raw,
                match=_match(event, raw.matcher),
                left_out=(NO_CONTENT if event == "beforeReadFile" else "", raw.no_event, problem(raw.matcher)),
                prelude=prelude,
                blocking=fields.get("failClosed") is True,
            )


def _match(client_event: str, matcher: str) -> dict[str, Any]:
    status = {"status": STATUS[client_event]} if client_event in STATUS else {}
    if client_event in SHELL_EVENTS:
        on_command = {CLIENT_COMMAND: {"matcher": matcher}} if matcher not in ALL else {}
        return {"ability_id": ["shell", "Shell"], **on_command}
    if client_event in MCP_EVENTS:
        return {"ability_id": ["mcp:*"], **tool_match(FORMAT, matcher)}
    if client_event == "afterFileEdit":
        return {"ability_id": ["edit", "write"], **status}
    return {**tool_match(FORMAT, matcher), **status} if client_event in TOOL_EVENTS else {}
