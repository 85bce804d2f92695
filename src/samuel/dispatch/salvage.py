"""Removes invalid entries from the lists of a HookResult, so that the rest of it can be used.

One invalid entry in a list of hints must not cost a handler its verdict or its messages. Any other invalid value
(a list that is not a list, a verdict, an `ok`, a rewrite) makes the whole result invalid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.base.decoding import convert
from samuel.events import EventType
from samuel.events.explain import explained
from samuel.events.session import FollowUpAction, Log, MatcherSuggestion, SuggestedAbility, SuggestedDocument

LISTS: Mapping[str, type] = {
    "logs": Log,
    "messages_to_user": str,
    "follow_up_messages": str,
    "suggested_abilities": SuggestedAbility,
    "suggested_documents": SuggestedDocument,
    "follow_up_actions": FollowUpAction,
    "update_matcher_suggestions": MatcherSuggestion,
}
MAX_NOTES = 5


def salvage(kind: EventType, result: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """`result` without its invalid hints, and what was left out or changed; "" if nothing.

    Raises msgspec.ValidationError if something else in it is invalid.
    """
    notes: list[str] = []
    try:
        convert(result, kind.result)
    except msgspec.ValidationError:
        if kind.family != "session":
            raise
        result = _without_invalid_hints(result, notes)
        convert(result, kind.result)
    if result.get("suggested_abilities") and kind.family == "session":
        result = _with_valid_confidence(result, notes)
    if not notes:
        return result, ""
    listed = "; ".join(notes[:MAX_NOTES])
    return result, f"{listed}; and {len(notes) - MAX_NOTES} more" if len(notes) > MAX_NOTES else listed


def _without_invalid_hints(result: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """`result` without invalid entries, and without the lists that are empty then."""
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


def _with_valid_confidence(result: Mapping[str, Any], notes: list[str]) -> Mapping[str, Any]:
    suggestions = result["suggested_abilities"]
    valid = []
    for suggestion in suggestions:
        confidence = suggestion.get("confidence")
        if isinstance(confidence, int | float) and not 0 <= confidence <= 1:
            nearest = min(1, max(0, confidence))
            notes.append(
                f"the confidence of `{suggestion['id']}` is {confidence}, taken as {nearest}: it must be 0 to 1"
            )
            suggestion = {**suggestion, "confidence": nearest}
        valid.append(suggestion)
    return {**result, "suggested_abilities": valid} if valid != suggestions else result
