"""Cursor, by its documentation. `preToolUse` is about any tool, each `before…` event about one kind of tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client, PayloadError
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import (
    check_event,
    common_fields,
    duration_ms,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.tools import EDIT, FETCH, MCP, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "cursor"
TITLE = "Cursor"
FAILED = "postToolUseFailure"
EVENTS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "preToolUse": PRE,
    "beforeShellExecution": PRE,
    "beforeMCPExecution": PRE,
    "beforeReadFile": PRE,
    "postToolUse": POST,
    FAILED: POST,
    "afterShellExecution": POST,
    "afterMCPExecution": POST,
    "afterFileEdit": POST,
    "stop": STOP,
    "sessionEnd": END,
}
TOOLS = {
    "Shell": shell(),
    "Read": on_file(READ, "file_path"),
    "Write": on_file(WRITE, "file_path"),
    "Edit": on_file(EDIT, "file_path"),
    "StrReplace": on_file(EDIT, "file_path"),
    "Delete": on_file(EDIT, "file_path"),
    "Grep": Tool(SEARCH, path="path"),
    "Glob": Tool(SEARCH, path="path"),
    "WebFetch": Tool(FETCH),
    "WebSearch": Tool(FETCH),
    "Task": Tool(TASK),
}
LIMITS = {
    (PROMPT, ASK): limited("Cursor cannot ask about a prompt, so Samuel denies instead"),
    (PROMPT, CONTEXT): limited("messages are shown only with a denial; suggestions do not reach the model"),
    (PRE, ASK): limited("Cursor asks for shell commands and MCP tools; for others Samuel denies instead"),
    (PRE, REWRITE): limited("Cursor takes a rewrite in `preToolUse`, together with its allow"),
    (PRE, CONTEXT): limited("messages and suggestions are shown only with a denial"),
    (POST, CONTEXT): limited("messages and suggestions reach the model only in `postToolUse`"),
    (POST, OUTPUT): lost("Cursor takes no other output from a hook, but for MCP tools"),
    (STOP, CONTEXT): limited("messages and suggestions are not shown"),
    (END, EVENT): limited("Cursor does not wait for the hook to end"),
    (END, CONTEXT): limited("suggestions are not read when the session is over"),
}
_FIELDS = {
    "conversation_id": "session_id",
    "session_id": "session_id",
    "transcript_path": "transcript_path",
    "cwd": "cwd",
    "tool_use_id": "call_id",
}
_SHELL_EVENTS = ("beforeShellExecution", "afterShellExecution")
_MCP_EVENTS = ("beforeMCPExecution", "afterMCPExecution")
_STATUS = {"permission_denied": "skipped"}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload, _FIELDS)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(payload, "prompt")}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, *_call(native_event, payload), mcp_name)
    if event == POST:
        context |= _result(native_event, payload)
    if event == STOP and payload.get("loop_count"):
        context["stop_hook_active"] = True  # it goes on already because of a hook
    return context


def _call(native_event: str, payload: Mapping[str, Any]) -> tuple[str, Any]:
    """The tool and its input: the events of one kind of tool name neither."""
    if native_event in _SHELL_EVENTS:
        return "Shell", {key: payload[key] for key in ("command", "cwd") if key in payload}
    if native_event == "beforeReadFile":
        return "Read", {"file_path": text(payload, "file_path")}
    if native_event == "afterFileEdit":
        return "Edit", {"file_path": text(payload, "file_path"), "edits": payload.get("edits")}
    tool_name, tool_input = text(payload, "tool_name"), _object(payload.get("tool_input"))
    if native_event not in _MCP_EVENTS:
        return tool_name, tool_input
    server = text_or_nothing(payload, "server_name", "url", "command") or "unknown"
    return f"MCP:{server}/{tool_name}", tool_input


def _object(value: object) -> object:
    """The input of a call, which MCP events have as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise PayloadError("`tool_input` is not JSON") from None


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `MCP:server/tool`; `MCP:tool` of `preToolUse` does not name the server."""
    if not tool_name.startswith("MCP:"):
        return ""
    name = tool_name.removeprefix("MCP:").strip()
    return f"{MCP}{name if '/' in name else f'unknown/{name}'}"


def _result(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended and what came out of it. Only `postToolUseFailure` reports a failure."""
    duration = duration_ms(payload, "duration")
    if native_event == FAILED:
        status = _STATUS.get(text_or_nothing(payload, "failure_type"), "failure")
        return {"status": status, "tool_output": payload.get("error_message", ""), **duration}
    keys = ("tool_output", "output", "result_json")
    output = next((payload[key] for key in keys if key in payload), "")
    return {"status": "success", "tool_output": output, **duration}


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event: an object, which may be empty."""
    event = EVENTS[native_event]
    asks = native_event in ("beforeShellExecution", "beforeMCPExecution")
    reply = json_answer.settled(TITLE, reply, can_ask=asks)
    result = reply.result
    fields: dict[str, Any] = {}
    if event == PROMPT and reply.decision == "deny":
        return json_answer.whole({"continue": False, "user_message": reply.reason})
    if event == PRE and reply.decision in ("deny", "ask"):
        fields = {"permission": reply.decision, **_both_spellings(reply.reason)}
    elif native_event == "preToolUse" and result.get("tool_input") is not None:
        fields = {"permission": "allow", "updated_input": result["tool_input"]}
    elif native_event in ("sessionStart", "postToolUse"):
        texts = (hints.messages(result), hints.suggestions(result))
        fields = {"additional_context": "\n\n".join(filter(None, texts))}
    elif event == STOP:
        fields = {"followup_message": json_answer.go_on(reply).get("reason")}
    return json_answer.whole({key: value for key, value in fields.items() if value})


def _both_spellings(reason: str) -> dict[str, str]:
    """Cursor 1.7 had camel case; later versions have snake case."""
    return dict.fromkeys(("user_message", "agent_message", "userMessage", "agentMessage"), reason)


CLIENT = Client(
    name=NAME,
    title=TITLE,
    events=EVENTS,
    translate=translate,
    answer=answer,
    tools=TOOLS,
    limits=LIMITS,
    documented=True,
    # Told through `preToolUse` and `postToolUse`, too.
    repeated=(
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "afterShellExecution",
        "afterMCPExecution",
        "afterFileEdit",
    ),
)
