"""Codex. Run with 0.166. It ignores an answer with a key that it does not expect: each has only those it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client, PayloadError
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import check_event, common_fields, text, text_or_nothing, tool_call
from samuel.clients.dialect.tools import EDIT, Tool, shell, shell_input

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "codex"
TITLE = "Codex"
EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": PRE,
    "PostToolUse": POST,
    "Stop": STOP,
    "SessionEnd": END,
}
TOOLS = {
    "Bash": shell(),
    "write_stdin": shell_input("chars"),
    "apply_patch": Tool(EDIT, {"patch": "command"}),
}
LIMITS = {
    (PRE, ASK): limited("Codex runs the tool when a hook asks, so Samuel denies instead"),
    (PRE, REWRITE): limited("Codex takes a rewrite only together with its allow, which skips its own approval"),
    (POST, EVENT): limited("Codex does not tell whether a command failed: the status is always `success`"),
    (POST, OUTPUT): lost("Codex takes no other output from a hook"),
    (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (END, EVENT): limited("Codex gives the hook at most 3 seconds"),
    (END, CONTEXT): limited("suggestions are not read when the session is over"),
}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(payload, "prompt")}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "tool_name"), payload.get("tool_input"))
    if event == POST:
        if "tool_response" not in payload:
            raise PayloadError("the payload has no `tool_response`")
        context |= {"status": "success", "tool_output": payload["tool_response"]}
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
    if event == PRE and (tool_input := reply.result.get("tool_input")) is not None:
        fields["hookSpecificOutput"] = json_answer.specific(
            native_event,
            permissionDecision="allow",
            updatedInput=tool_input,
            additionalContext=hints.suggestions(reply.result),
        )
    if event in (STOP, END):
        del fields["hookSpecificOutput"]
    return json_answer.as_json({**fields, **json_answer.go_on(reply)} if event == STOP else fields)


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
