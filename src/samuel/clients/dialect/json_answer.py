"""Answers in the JSON that Claude Code began and several clients share, with what differs as arguments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from samuel.clients.dialect import hints
from samuel.clients.dialect.client import ClientAnswer, ClientReply

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BLOCKED = 2  # the exit code that stops the client; the reason is on stderr
NO_REASON = "denied by a hook of this project"


def as_json(fields: Mapping[str, Any]) -> ClientAnswer:
    """The fields that have a value as one JSON object; silence if none has."""
    values = {key: value for key, value in fields.items() if value}
    return ClientAnswer(stdout=json.dumps(values)) if values else ClientAnswer()


def whole(fields: Mapping[str, Any]) -> ClientAnswer:
    """One JSON object, for clients that expect one also where there is nothing to say."""
    return ClientAnswer(stdout=json.dumps(fields))


def specific(native_event: str, **fields: Any) -> dict[str, Any]:
    """`hookSpecificOutput` for an event, {} if none of the fields has a value."""
    values = {key: value for key, value in fields.items() if value}
    return {"hookEventName": native_event, **values} if values else {}


def blocked(reason: str) -> ClientAnswer:
    """The answer by exit code, for clients that give the model the whole reason from stderr."""
    return ClientAnswer(stderr=f"{reason or NO_REASON}\n", exit_code=BLOCKED)


def settled(client: str, reply: ClientReply, *, can_ask: bool = False) -> ClientReply:
    """The reply with a reason for each denial, and with `ask` as a denial where the client cannot ask."""
    decision, reason = reply.decision, reply.reason or NO_REASON
    if decision == "ask" and not can_ask:
        question = reply.reason or "a hook asks whether to continue"
        decision, reason = "deny", f"{question} (denied: a hook cannot ask a person in {client})"
    return ClientReply(reply.result, decision, reason)


def to_user_and_model(native_event: str, reply: ClientReply) -> dict[str, Any]:
    """Messages to the user and suggestions to the model, for an event that takes both."""
    return {
        "systemMessage": hints.messages(reply.result),
        "hookSpecificOutput": specific(native_event, additionalContext=hints.suggestions(reply.result)),
    }


def go_on(reply: ClientReply, decision: str = "block") -> dict[str, Any]:
    """Messages that keep a session going, and a reason to stop the stopping; {} if there is neither."""
    reason = hints.follow_ups(reply.result) or (reply.reason if reply.decision == "deny" else "")
    return {"decision": decision, "reason": reason} if reason else {}
