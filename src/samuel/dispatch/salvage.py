"""What of a HookResult can still be used when an entry in it is wrong.

One wrong entry in a list of hints must not cost a handler its verdict or its messages. Anything else in the wrong
shape makes the whole answer bad: a list that is none, a verdict, an `ok`, a rewrite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from samuel.decoding import convert
from samuel.events import EventType
from samuel.events.explain import explained
from samuel.events.session import FollowUpAction, Log, SuggestedAbility, SuggestedDocument

LISTS: Mapping[str, type] = {
    "logs": Log,
    "messages_to_user": str,
    "follow_up_messages": str,
    "suggested_abilities": SuggestedAbility,
    "suggested_documents": SuggestedDocument,
    "follow_up_actions": FollowUpAction,
}
MOST_NOTES = 5


class Salvaged(NamedTuple):
    result: Mapping[str, Any]
    note: str
    """What was left out or changed; "" if nothing."""


def salvaged(kind: EventType, result: Mapping[str, Any]) -> Salvaged:
    """The result without the hints that are wrong; msgspec.ValidationError if something else is."""
    notes: list[str] = []
    try:
        convert(result, kind.result)
    except msgspec.ValidationError:
        if kind.family != "session":
            raise
        result = _without_wrong_hints(result, notes)
        convert(result, kind.result)
    if kind.family == "session" and result.get("suggested_abilities"):
        result = _with_sane_confidence(result, notes)
    if not notes:
        return Salvaged(result, "")
    shown = "; ".join(notes[:MOST_NOTES])
    return Salvaged(result, f"{shown}; and {len(notes) - MOST_NOTES} more" if len(notes) > MOST_NOTES else shown)


def _without_wrong_hints(result: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Without the entries that are wrong, and without a list of which nothing is left."""
    usable: dict[str, Any] = {}
    for key, value in result.items():
        if key in LISTS and isinstance(value, list):
            entries = [entry for at, entry in enumerate(value) if _fits(entry, LISTS[key], f"{key}[{at}]", notes)]
            if value and not entries:
                continue
            value = entries
        usable[key] = value
    return usable


def _fits(value: Any, kind: type, where: str, notes: list[str]) -> bool:
    try:
        convert(value, kind)
    except msgspec.ValidationError as error:
        notes.append(f"`{where}` left out: {explained(error, kind)}")
        return False
    return True


def _with_sane_confidence(result: Mapping[str, Any], notes: list[str]) -> Mapping[str, Any]:
    suggestions = result["suggested_abilities"]
    sane = []
    for suggestion in suggestions:
        confidence = suggestion.get("confidence")
        if isinstance(confidence, int | float) and not 0 <= confidence <= 1:
            nearest = min(1, max(0, confidence))
            notes.append(
                f"the confidence of `{suggestion['id']}` is {confidence}, taken as {nearest}: it is 0 to 1"
            )
            suggestion = {**suggestion, "confidence": nearest}
        sane.append(suggestion)
    return {**result, "suggested_abilities": sane} if sane != suggestions else result
