"""Reading a client's payload: the fields that are there, each of the type it has to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from samuel.clients.dialect.events import CONFIG_CHANGE, END, NOTIFICATION, PRE_COMPACT, START, SUBAGENT_STOP
from samuel.clients.dialect.protocol import Payload, PayloadError
from samuel.clients.dialect.tools import Tools, common_input, common_name, mcp_with_underscores

# Where the clients of Claude's family have what is common to all events; further fields of the context.
COMMON = {
    "session_id": "session_id",
    "transcript_path": "transcript_path",
    "cwd": "cwd",
    "agent_id": "subagent",  # only inside of one; `agent_type` is also there where the user chose the main agent
    "tool_use_id": "call_id",
    "permission_mode": "permission_mode",
    "stop_hook_active": "stop_hook_active",
    "last_assistant_message": "last_message",
}


def text(payload: Payload, key: str) -> str:
    """The text in a field that must be there."""
    value = payload.get(key)
    if not isinstance(value, str):
        raise PayloadError(f"the payload has no text in `{key}`")
    return value


def text_or_nothing(payload: Payload, *keys: str) -> str:
    """The first of these fields that has text; "" if none has."""
    return next((value for key in keys if isinstance(value := payload.get(key), str) and value), "")


def mapping(payload: Payload, key: str) -> dict[str, Any]:
    """The object in a field that must be there."""
    value = payload.get(key)
    if not isinstance(value, dict):
        raise PayloadError(f"the payload has no object in `{key}`")
    return value


def mapping_or_nothing(payload: Payload, key: str) -> dict[str, Any]:
    """The object in a field; {} if there is none."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def duration_ms(payload: Payload, key: str) -> dict[str, int | float]:
    """`duration_ms` from a field with a number of milliseconds; {} if there is none."""
    value = payload.get(key)
    return {"duration_ms": value} if isinstance(value, (int, float)) and not isinstance(value, bool) else {}


def check_event(native_event: str, payload: Payload) -> None:
    """PayloadError if the payload says that it is about another event."""
    named_event = payload.get("hook_event_name", native_event)
    if named_event != native_event:
        raise PayloadError(f"the payload is for `{named_event}`, not for `{native_event}`")


def common_fields(payload: Payload, fields: Mapping[str, str]) -> dict[str, Any]:
    """Fields of the payload under the names that contexts have for them, those that have a plain value."""
    values = [(key, payload.get(own)) for own, key in fields.items()]
    context = {key: value for key, value in values if isinstance(value, (str, bool)) and value != ""}
    if "subagent" in context:
        context["subagent"] = text_or_nothing(payload, "agent_type", "agent_id")
    return context


# The fields that the clients of Claude's family have on these events: the payload's -> the context's.
_OF_EVENT = {
    START: {"source": "source"},
    END: {"reason": "reason"},
    SUBAGENT_STOP: {"agent_id": "subagent_id", "agent_transcript_path": "subagent_transcript"},
    NOTIFICATION: {"message": "message", "notification_type": "kind", "title": "title"},
    PRE_COMPACT: {"trigger": "trigger", "custom_instructions": "instructions"},
    CONFIG_CHANGE: {"source": "source", "file_path": "path"},
}

_NEEDED = {NOTIFICATION: "message", PRE_COMPACT: "trigger", CONFIG_CHANGE: "source"}


def session_fields(event: str, payload: Payload) -> dict[str, Any]:
    """What a client of Claude's family reports of an event that is not about a prompt or a tool call."""
    if event in _NEEDED:
        text(payload, _NEEDED[event])
    return common_fields(payload, _OF_EVENT.get(event, {}))


def tool_call(
    tools: Tools, tool_name: str, tool_input: Any, mcp: Callable[[str], str] = mcp_with_underscores
) -> dict[str, Any]:
    """The fields of a tool call."""
    if tool_input is None:
        raise PayloadError(f"the payload has no input of `{tool_name}`")
    return {
        "ability_id": common_name(tools, tool_name, mcp),
        "tool_name": tool_name,
        "tool_input": common_input(tools, tool_name, tool_input),
    }
