"""Kodelet's hook protocol: five events under their own names, with their own fields.

A hook that speaks it reads and writes exactly what that protocol says; everything else sees Samuel's
events. The translation is pure and goes both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.events import names

NAME = "kodelet"


class _Event(NamedTuple):
    fields: Callable[[Mapping[str, Any]], dict[str, Any]]  # our payload -> their own fields
    results: Mapping[str, str]  # their result key -> ours


def _tool_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool_name": payload.get("ability_id", ""),
        "tool_input": payload.get("tool_input", {}),
        "tool_user_id": payload.get("event_id", ""),
    }


EVENTS: Mapping[str, _Event] = {
    "before_tool_call": _Event(_tool_call, {"input": "tool_input"}),
    "after_tool_call": _Event(
        lambda payload: {**_tool_call(payload), "tool_output": payload.get("tool_output", {})},
        {"output": "tool_output"},
    ),
    "user_message_send": _Event(lambda payload: {"message": payload.get("user_message", "")}, {}),
    "agent_stop": _Event(lambda payload: {"messages": payload.get("messages", [])}, {}),
    "turn_end": _Event(
        lambda payload: {
            "response": payload.get("response", ""),
            "turn_number": payload.get("turn_number", 0),
        },
        {},
    ),
}

THEIRS: Mapping[str, str] = {ours: theirs for theirs, ours in names.KODELET.items()}


def to_theirs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Our payload as that protocol spells it."""
    theirs = THEIRS[payload["event"]]
    base = {
        "event": theirs,
        "conv_id": payload.get("session_id", ""),
        "cwd": payload.get("project_root", ""),
        "invoked_by": payload.get("invoked_by", "main"),
    }
    recipe = {key: payload[key] for key in ("recipe_name", "recipe_full_name") if payload.get(key)}
    return {**base, **recipe, **EVENTS[theirs].fields(payload)}


def from_theirs(event: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Their result as ours. Keys that the protocol does not have stay as they are."""
    renamed = EVENTS[THEIRS[event]].results
    ours = {renamed.get(key, key): value for key, value in result.items()}
    # `"input": null` is how that protocol says "unchanged".
    return {key: value for key, value in ours.items() if not (key in renamed.values() and value is None)}
