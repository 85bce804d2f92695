"""The hook protocol of Kodelet: five events with their own names and fields.

A hook that uses it reads and writes exactly the fields of that protocol; the rest of Samuel sees only Samuel's
events and results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.events import names

NAME = "kodelet"


class _KodeletEvent(NamedTuple):
    """How the fields of one Kodelet event are made, and which keys of its result have another name in Samuel."""

    fields: Callable[[Mapping[str, Any]], dict[str, Any]]  # Samuel's payload -> the event's own fields
    result_keys: Mapping[str, str]  # key of Kodelet's result -> key of Samuel's


def _extra(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the caller gave beside the event's fields: a client gives its id of the call, and its subagent."""
    return payload.get("extra") or {}


def _tool_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool_name": payload.get("ability_id", ""),
        "tool_input": payload.get("tool_input", {}),
        "tool_user_id": _extra(payload).get("call_id") or payload.get("event_id", ""),
    }


EVENTS: Mapping[str, _KodeletEvent] = {
    "before_tool_call": _KodeletEvent(_tool_call, {"input": "tool_input"}),
    "after_tool_call": _KodeletEvent(
        lambda payload: {**_tool_call(payload), "tool_output": payload.get("tool_output", {})},
        {"output": "tool_output"},
    ),
    "user_message_send": _KodeletEvent(lambda payload: {"message": payload.get("user_message", "")}, {}),
    "agent_stop": _KodeletEvent(lambda payload: {"messages": payload.get("messages", [])}, {}),
    "turn_end": _KodeletEvent(
        lambda payload: {
            "response": payload.get("response", ""),
            "turn_number": payload.get("turn_number", 0),
        },
        {},
    ),
}

KODELET_NAMES: Mapping[str, str] = {event: kodelet_name for kodelet_name, event in names.KODELET.items()}


def translate_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Samuel's payload as a payload of Kodelet's protocol."""
    kodelet_name = KODELET_NAMES[payload["event"]]
    base = {
        "event": kodelet_name,
        "conv_id": payload.get("session_id", ""),
        "cwd": payload.get("project_root", ""),
        "invoked_by": _invoked_by(_extra(payload)),
    }
    recipe = {key: payload[key] for key in ("recipe_name", "recipe_full_name") if payload.get(key)}
    return {**base, **recipe, **EVENTS[kodelet_name].fields(payload)}


def _invoked_by(extra: Mapping[str, Any]) -> str:
    """Kodelet's word for the agent that a client calls a hook for, or what the caller of an event says itself."""
    return str(extra.get("invoked_by") or ("subagent" if extra.get("subagent") else "main"))


def translate_result(event: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Kodelet's protocol as Samuel's. Keys that the protocol does not define are not changed."""
    renamed = EVENTS[KODELET_NAMES[event]].result_keys
    translated = {renamed.get(key, key): value for key, value in result.items()}
    # In that protocol `"input": null` means "unchanged".
    return {key: value for key, value in translated.items() if not (key in renamed.values() and value is None)}
