"""Antigravity CLI (`agy`), by its documentation. It denies a tool call when the answer has no decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import json_answer
from samuel.clients.dialect.client import POST, PRE, STOP, Client
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import common_fields, mapping, mapping_or_nothing, text, tool_call
from samuel.clients.dialect.tools import EDIT, FETCH, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "agy"
TITLE = "Antigravity CLI"
EVENTS = {"PreToolUse": PRE, "PostToolUse": POST, "Stop": STOP}
TOOLS = {
    "run_command": shell("CommandLine"),
    "replace_file_content": on_file(EDIT, "TargetFile"),
    "multi_replace_file_content": on_file(EDIT, "TargetFile"),
    "write_to_file": on_file(WRITE, "TargetFile"),
    "view_file": on_file(READ, "AbsolutePath"),
    "list_dir": Tool(SEARCH, path="DirectoryPath"),
    "find_by_name": Tool(SEARCH, path="SearchDirectory"),
    "grep_search": Tool(SEARCH, path="SearchPath"),
    "read_url_content": Tool(FETCH, {"url": "Url"}),
    "search_web": Tool(FETCH),
    "browser_subagent": Tool(TASK),
}
NOT_SHOWN = "Antigravity CLI shows neither messages nor suggestions of a hook"
LIMITS = {
    (PRE, EVENT): limited("Antigravity CLI needs `allow` for silence; that does not switch its own prompt off"),
    (PRE, ASK): limited("Antigravity CLI asks the person, even where none can answer"),
    (PRE, REWRITE): lost("Antigravity CLI takes no other input from a hook"),
    (PRE, CONTEXT): limited(NOT_SHOWN),
    (POST, EVENT): limited("Antigravity CLI does not always name the tool; such an event is not fired"),
    (POST, OUTPUT): lost("Antigravity CLI takes no other output from a hook"),
    (POST, CONTEXT): limited(NOT_SHOWN),
    (STOP, CONTEXT): limited(NOT_SHOWN),
}
_FIELDS = {"conversationId": "session_id", "transcriptPath": "transcript_path"}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    context = {"client": NAME, "client_event": native_event, **common_fields(payload, _FIELDS)}
    event = EVENTS[native_event]
    if event == STOP:
        return {**context, "stop_hook_active": True} if _repeated(payload) else context
    if event == POST and not mapping_or_nothing(payload, "toolCall"):
        return {}
    call, step = mapping(payload, "toolCall"), payload.get("stepIdx")
    context |= tool_call(TOOLS, text(call, "name"), mapping(call, "args"))
    if isinstance(step, int):
        context["call_id"] = str(step)
    if event == POST:
        error = payload.get("error")
        context |= {"status": "failure" if error else "success", "tool_output": error or ""}
    return context


def _repeated(payload: Mapping[str, Any]) -> bool:
    """Did the agent go on already because a hook told it to?"""
    number = payload.get("executionNum")
    return isinstance(number, int) and number > 1


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply, can_ask=event == PRE)
    if event == PRE:
        decision = {"deny": "deny", "ask": "force_ask"}.get(reply.decision, "allow")
        reason = {} if decision == "allow" else {"reason": reply.reason}
        return json_answer.whole({"decision": decision, **reason})
    return json_answer.whole(json_answer.go_on(reply, "continue") if event == STOP else {})


CLIENT = Client(
    name=NAME,
    title=TITLE,
    events=EVENTS,
    translate=translate,
    answer=answer,
    tools=TOOLS,
    limits=LIMITS,
    documented=True,
)
