"""Kimi Code. Run with 2.1.0. A denial is exit code 2; of JSON it reads `message`, which goes to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client, PayloadError
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import COMMON, check_event, common_fields, text, tool_call
from samuel.clients.dialect.tools import EDIT, FETCH, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "kimi"
TITLE = "Kimi Code"
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
    "Bash": shell(),
    "Edit": on_file(EDIT, "path"),
    "Write": on_file(WRITE, "path"),
    "Read": on_file(READ, "path"),
    "Glob": Tool(SEARCH, path="path"),
    "Grep": Tool(SEARCH, path="path"),
    "FetchURL": Tool(FETCH, {"url": "url"}),
    "WebSearch": Tool(FETCH),
    "Task": Tool(TASK),
    "Agent": Tool(TASK),
}
NOT_SHOWN = "Kimi Code shows neither messages nor suggestions of this event"
LIMITS = {
    (START, CONTEXT): limited(NOT_SHOWN),
    (PRE, ASK): limited("Kimi Code has no way for a hook to ask, so Samuel denies instead"),
    (PRE, REWRITE): lost("Kimi Code ignores a rewritten input"),
    (PRE, CONTEXT): limited(NOT_SHOWN),
    (POST, EVENT): limited("Kimi Code does not wait for the hook, and an unattended run may end before it"),
    (POST, OUTPUT): lost("Kimi Code takes no other output from a hook"),
    (POST, CONTEXT): limited(NOT_SHOWN),
    (STOP, CONTEXT): limited(NOT_SHOWN),
    (END, EVENT): limited("Kimi Code does not fire SessionEnd in an unattended run"),
    (END, CONTEXT): limited(NOT_SHOWN),
}
_FIELDS = {**COMMON, "tool_call_id": "call_id"}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload, _FIELDS)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": _prompt(payload.get("prompt"))}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "tool_name"), payload.get("tool_input"))
    if event == POST:
        failed = native_event == FAILED
        output = payload.get("error" if failed else "tool_output", "")
        context |= {"status": "failure" if failed else "success", "tool_output": output}
    return context


def _prompt(prompt: object) -> str:
    """The text of a prompt: a list of parts, of which some may be pictures."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list) or not all(isinstance(part, dict) for part in prompt):
        raise PayloadError("the payload has no list of parts in `prompt`")
    texts = [part["text"] for part in prompt if isinstance(part.get("text"), str)]
    if prompt and not texts and any(part.get("type") == "text" for part in prompt):
        raise PayloadError("the parts of `prompt` have no `text`")
    return "\n".join(texts)


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply)
    if event in (PRE, PROMPT) and reply.decision == "deny":
        return json_answer.blocked(reply.reason)
    if event == STOP and (reason := json_answer.go_on(reply).get("reason")):
        return json_answer.blocked(reason)
    texts = (hints.messages(reply.result), hints.suggestions(reply.result))
    return json_answer.as_json({"message": "\n\n".join(filter(None, texts)) if event == PROMPT else ""})


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
