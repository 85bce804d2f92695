"""Cline. Run with 3.0.65. One executable file per event; a denial of one call ends the whole run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, EVENT, FOLLOW_UP, OUTPUT, limited, lost
from samuel.clients.dialect.payload import (
    common_fields,
    duration_ms,
    mapping,
    mapping_or_nothing,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.tools import COMMANDS, EDIT, FETCH, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "cline"
TITLE = "Cline"
EVENTS = {
    "TaskStart": START,
    "TaskResume": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": PRE,
    "PostToolUse": POST,
    "TaskComplete": STOP,
    "SessionShutdown": END,
}
TOOLS = {
    "run_commands": shell(COMMANDS),
    "execute_command": shell(),
    "editor": on_file(EDIT, "path"),
    "replace_in_file": on_file(EDIT, "path"),
    "apply_patch": Tool(EDIT, {"patch": "input"}),
    "write_to_file": on_file(WRITE, "path"),
    "read_file": on_file(READ, "path"),
    "read_files": Tool(READ),
    "search_codebase": Tool(SEARCH),
    "search_files": Tool(SEARCH, path="path"),
    "list_files": Tool(SEARCH, path="path"),
    "fetch_web_content": Tool(FETCH),
    "web_fetch": Tool(FETCH, {"url": "url"}),
    "spawn_agent": Tool(TASK),
}
NOT_READ = "Cline does not wait for this hook and reads no answer"
LIMITS = {
    (START, CONTEXT): limited(NOT_READ),
    (PROMPT, DENY): lost(f"{NOT_READ}, so a prompt cannot be denied"),
    (PROMPT, ASK): lost(f"{NOT_READ}, so a prompt cannot be denied"),
    (PROMPT, CONTEXT): limited(NOT_READ),
    (PRE, DENY): limited("Cline ends its whole run when a hook denies one call, and the model is not told why"),
    (PRE, ASK): limited("a hook cannot ask in Cline, so Samuel denies, which ends its whole run"),
    (POST, OUTPUT): lost("Cline takes no other output from a hook"),
    (STOP, EVENT): limited("Cline fires it for a task that is completed, not at the end of each answer"),
    (STOP, FOLLOW_UP): lost(NOT_READ),
    (STOP, CONTEXT): limited(NOT_READ),
    (END, CONTEXT): limited(NOT_READ),
}
_FIELDS = {"taskId": "session_id"}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    context = {"client": NAME, "client_event": native_event, **common_fields(payload, _FIELDS)}
    if text_or_nothing(payload, "parent_agent_id"):
        context["subagent"] = text_or_nothing(payload, "agent_id")
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(mapping(payload, "userPromptSubmit"), "prompt")}
    if event not in (PRE, POST):
        return context
    # `preToolUse` has the input as text; `tool_call` has it as it is.
    call = mapping(payload, "tool_call" if event == PRE else "tool_result")
    context |= tool_call(TOOLS, text(call, "name"), mapping(call, "input"), mcp_name)
    if call_id := text_or_nothing(call, "id"):
        context["call_id"] = call_id
    return {**context, **_result(payload, call)} if event == POST else context


def _result(payload: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    told_failure = mapping_or_nothing(payload, "postToolUse").get("success") is False
    failed = bool(call.get("error")) or told_failure or _command_failed(call.get("output"))
    output = call.get("error") if failed and call.get("error") else call.get("output", "")
    return {
        "status": "failure" if failed else "success",
        "tool_output": output,
        **duration_ms(call, "durationMs"),
    }


def _command_failed(output: object) -> bool:
    """Is there a command that failed in what `run_commands` returns? The call itself is a success then."""
    if isinstance(output, str) and output.startswith("["):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return False
    entries = output if isinstance(output, list) else ()
    return any(isinstance(entry, dict) and entry.get("success") is False for entry in entries)


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server__tool`."""
    server, joint, tool = tool_name.partition("__")
    return f"mcp:{server}/{tool}" if joint and server and tool else ""


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event. Without `cancel` some versions take the answer for a broken one."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply)
    fields: dict[str, Any] = {"cancel": False}
    if event in (PRE, PROMPT) and reply.decision == "deny":
        fields = {"cancel": True, "errorMessage": reply.reason}
    elif event in (PRE, POST):
        texts = (hints.messages(reply.result), hints.suggestions(reply.result))
        fields["contextModification"] = "\n\n".join(filter(None, texts))
        fields["overrideInput"] = reply.result.get("tool_input") if event == PRE else None
    return json_answer.whole({key: value for key, value in fields.items() if value or key == "cancel"})


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
