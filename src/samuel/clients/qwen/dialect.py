"""Qwen Code. Run with 0.24.4. It has Claude Code's events and Gemini CLI's tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import (
    check_event,
    common_fields,
    duration_ms,
    mapping,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.tools import EDIT, FETCH, READ, SEARCH, TASK, WRITE, Tool, on_file, shell
from samuel.clients.gemini import dialect as gemini

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "qwen"
TITLE = "Qwen Code"
FAILED = "PostToolUseFailure"
EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": PRE,
    "PostToolUse": POST,
    FAILED: POST,
    "Stop": STOP,
    "SessionEnd": END,
}
TOOLS = {
    "run_shell_command": shell(),
    "monitor": shell(),  # in the background
    "edit": on_file(EDIT, "file_path"),
    "write_file": on_file(WRITE, "file_path"),
    "read_file": on_file(READ, "file_path"),
    "read_many_files": Tool(READ),
    "list_directory": Tool(SEARCH, path="path"),
    "glob": Tool(SEARCH, path="path"),
    "grep_search": Tool(SEARCH, path="path"),
    "web_fetch": Tool(FETCH, {"url": "url"}),
    "web_search": Tool(FETCH),
    "agent": Tool(TASK),
    "task": Tool(TASK),
}
LIMITS = {
    (PRE, ASK): limited("Qwen Code denies when a hook asks, so Samuel denies with the question as the reason"),
    (PRE, REWRITE): lost("Qwen Code ignores a rewritten input"),
    (POST, OUTPUT): lost("Qwen Code takes no other output from a hook"),
    (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (END, EVENT): limited("Qwen Code does not fire SessionEnd in an unattended run"),
    (END, CONTEXT): limited("suggestions are not read when the session is over"),
}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload)}
    if call_id := text_or_nothing(payload, "tool_call_id", "tool_use_id"):
        context["call_id"] = call_id  # the id of the model's own call, which transcripts have
    event = EVENTS[native_event]
    if event == PROMPT:
        # It fires again after each result of a tool, with nothing in it.
        return {**context, "user_message": prompt} if (prompt := text(payload, "prompt")) else {}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "tool_name"), payload.get("tool_input"))
    if event == POST:
        context |= duration_ms(payload, "duration_ms")
        context |= (
            {"status": "failure", "tool_output": payload.get("error", "")}
            if native_event == FAILED
            else gemini.response(mapping(payload, "tool_response"))
        )
    if event == STOP and (message := text_or_nothing(payload, "last_assistant_message")):
        context["last_message"] = message
    return context


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply)
    if event in (PRE, PROMPT) and reply.decision == "deny":
        return json_answer.blocked(reply.reason)
    fields = json_answer.to_user_and_model(native_event, reply)
    if event in (STOP, END):
        del fields["hookSpecificOutput"]
    return json_answer.as_json({**fields, **json_answer.go_on(reply)} if event == STOP else fields)


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
