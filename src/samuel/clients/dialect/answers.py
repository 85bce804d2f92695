"""Answers to clients: what handlers tell the user and suggest to the agent, as text and in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from samuel.base.printable import shell_word
from samuel.clients.dialect.events import CONFIG_CHANGE, END, NOTIFICATION, PRE_COMPACT, STOPS
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply

BLOCKED = 2  # the exit code that stops the client; the reason is on stderr
NO_REASON = "denied by a hook of this project"
HEADING = "Hints of this project's hooks. Use what helps, and ignore the rest."


def as_json(fields: Mapping[str, Any]) -> ClientAnswer:
    """The fields that have a value as one JSON object; silence if none has."""
    values = _with_value(fields)
    return ClientAnswer(stdout=json.dumps(values)) if values else ClientAnswer()


def whole(fields: Mapping[str, Any]) -> ClientAnswer:
    """One JSON object, for clients that expect one also where there is nothing to say."""
    return ClientAnswer(stdout=json.dumps(fields))


def blocked(reason: str) -> ClientAnswer:
    """The answer by exit code, for clients that give the model the whole reason from stderr."""
    return ClientAnswer(stderr=f"{reason or NO_REASON}\n", exit_code=BLOCKED)


def settled(title: str, reply: ClientReply, *, can_ask: bool) -> ClientReply:
    """The reply with a reason for each denial, and with `ask` as a denial where the client cannot ask."""
    decision, reason = reply.decision, reply.reason or NO_REASON
    if decision == "ask" and not can_ask:
        question = reply.reason or "a hook asks whether to continue"
        decision, reason = "deny", f"{question} (denied: a hook cannot ask a person in {title})"
    return ClientReply(reply.result, decision, reason)


def hook_output(native_event: str, **fields: Any) -> dict[str, Any]:
    """`hookSpecificOutput` for an event, with the fields that have a value; {} if none has."""
    values = _with_value(fields)
    return {"hookSpecificOutput": {"hookEventName": native_event, **values}} if values else {}


def claude_fields(native_event: str, event: str, reply: ClientReply, block: str = "block") -> dict[str, Any]:
    """What clients of Claude's family are told on each event; `block` is their word for not stopping."""
    fields = {"systemMessage": messages(reply.result)}
    if event in STOPS:
        return {**fields, **go_on(reply, block)}
    if event in (END, NOTIFICATION, PRE_COMPACT, CONFIG_CHANGE):
        return fields
    return {**fields, **hook_output(native_event, additionalContext=suggestions(reply.result))}


def go_on(reply: ClientReply, decision: str = "block") -> dict[str, Any]:
    """Messages that keep a session going, and a reason to stop the stopping; {} if there is neither."""
    reason = "\n\n".join(_texts(reply.result, "follow_up_messages"))
    reason = reason or (reply.reason if reply.decision == "deny" else "")
    return {"decision": decision, "reason": reason} if reason else {}


def messages(result: Mapping[str, Any]) -> str:
    """The messages to the user, a line each."""
    return "\n".join(_texts(result, "messages_to_user"))


def messages_and_suggestions(result: Mapping[str, Any]) -> str:
    """Both in one text, for a client that has one place for them."""
    return "\n\n".join(filter(None, (messages(result), suggestions(result))))


def suggestions(result: Mapping[str, Any]) -> str:
    """The abilities, the documents and the intent that handlers suggest; "" if they suggest nothing."""
    lines = list(_hints(result))
    return "\n".join([HEADING, *lines]) if lines else ""


def _hints(result: Mapping[str, Any]) -> Iterator[str]:
    for suggestion in _objects(result, "suggested_abilities"):
        if name := suggestion.get("id"):
            yield f"- `samuel ability call {shell_word(name)}`{_because(suggestion)}"
    for suggestion in _objects(result, "suggested_documents"):
        if path := suggestion.get("path"):
            yield f"- read `{path}`{_because(suggestion)}"
    intent = result.get("new_intent")
    if isinstance(intent, dict) and intent.get("intent"):
        yield f"- intent: {intent['intent']}"


def _because(suggestion: Mapping[str, Any]) -> str:
    return f": {reason}" if (reason := suggestion.get("reason")) else ""


def _texts(result: Mapping[str, Any], key: str) -> list[str]:
    values = result.get(key)
    return [str(value) for value in values if value] if isinstance(values, list) else []


def _objects(result: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    values = result.get(key)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _with_value(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}
