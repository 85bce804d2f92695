"""What of a handler's result can be used.

The reason that it gives is kept where the rest of it cannot be used. One invalid entry in a list of hints must not
cost it its verdict or its messages; any other invalid value (a list that is not a list, a verdict, an `ok`, a
rewrite) makes the whole result invalid. Keys that the protocol does not define stay in a result. So a guard that
returns `{"decison": "deny"}`, or that uses the words of another system, would allow everything without anybody
noticing: such keys are reported. What it adds to the prompt is cut to its byte budget, with a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import convert
from samuel.base.nearest import hint, nearest_name
from samuel.base.printable import safe
from samuel.events import EVENTS, EventType
from samuel.events.explain import explained
from samuel.events.session import FollowUpAction, Log, MatcherSuggestion, SuggestedAbility, SuggestedDocument
from samuel.hooks.handler import Outcome
from samuel.runtimes.base import Reply

FAILURE = frozenset(("ok", "reason", "error", "data"))
"""What a result needs that only says that the handler failed."""
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
VERDICTS = ("decision", "blocked")
OTHER_NAMES = frozenset(
    (
        *("allow", "allowed", "block", "blocking", "continue", "denied", "deny"),
        *("hookspecificoutput", "permission", "permissiondecision", "verdict"),
    )
)
"""What a verdict is called in other systems, or might be called: in small letters, without `_` and `-`."""
CUTOFF = 0.75
"""How alike a key and its correct spelling are at least, from 0 to 1: `desicion` and `decision` are just that."""
_KEYS = {event.name: frozenset(event.result.__struct_fields__) for event in EVENTS if event.composition.can_deny}
"""The keys of a result, by the events that can be denied."""
BLOBS = ("toon_blob", "md_blob")


def stated_reason(result: Mapping[str, Any]) -> str:
    """Why a handler failed or denied, in its own words; "" if it does not say."""
    for key in ("reason", "error"):
        if reason := str(result.get(key) or "").strip():
            return reason
    return ""


def with_reason(message: str, result: Mapping[str, Any]) -> str:
    """The message about a result that is not used, with the reason in it."""
    reason = stated_reason(result)
    return f"{message}; its reason: {reason}" if reason and reason not in message else message


def failure_of(result: Mapping[str, Any], wrong: str) -> tuple[str, dict[str, Any]]:
    """The message and the result of a handler that returned `ok: false`, whatever else is wrong with its result.

    A failure needs no other key, so `wrong`, what is wrong with the others, is named only if there are any.
    """
    reason = stated_reason(result) or "it returned `ok: false`"
    message = reason if result.keys() <= FAILURE else f"{reason} ({wrong})"
    return message, {"ok": False, "reason": reason}


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


def with_misspelt_verdict(kind: EventType, reply: Reply, strict: bool) -> Reply:
    """`reply`, with a message if a key in it looks like a misspelt verdict.

    If there is no other verdict in it, the reply of a strict handler is bad output, which denies.
    """
    keys = _KEYS.get(kind.name)
    if keys is None or reply.result.keys() <= keys:  # nearly always
        return reply
    unclear = all(reply.result.get(key) is None for key in VERDICTS)
    note = _misspelt(reply.result, keys, unclear)
    if not note or reply.outcome is Outcome.BAD_OUTPUT:
        return reply
    if strict and unclear and reply.outcome is Outcome.OK:
        return replace(reply, outcome=Outcome.BAD_OUTPUT, result={}, message=with_reason(note, reply.result))
    return replace(reply, message=f"{reply.message} ({note})" if reply.message else note)


def _misspelt(result: Mapping[str, Any], keys: frozenset[str], unclear: bool) -> str:
    """What is wrong with the first key that looks like one which is missing from the result; "" if none does."""
    missing = [*(VERDICTS if unclear else ()), *(("reason",) if result.get("reason") is None else ())]
    for key in result:
        if key in keys:
            continue
        word = key.lower().replace("_", "").replace("-", "")
        # People rarely get the first letter wrong; without this rule a `revision` would count as a `decision`.
        near = nearest_name(word, [name for name in missing if name[0] == word[:1]], CUTOFF)
        if not near and unclear and word in OTHER_NAMES:
            near = "decision"
        if near:
            return f"returned `{safe(key[:40], keep='')}`, which has no effect; {hint(near)}"
    return ""


def within_budget(reply: Reply, previous: Mapping[str, Any] | None, budget: float) -> Reply:
    """`reply`, where what it adds to the prompt is cut to `budget` bytes."""
    limit = int(budget)
    result = reply.result
    cut = {**_cut_blobs(result, previous or {}, limit), **_cut_extras(result.get("extras") or (), limit)}
    if not cut:
        return reply
    note = f"{', '.join(cut)} cut to {limit} bytes; `handler_prompt_bytes` under [limits] sets the limit"
    return replace(reply, result={**result, **cut}, message=note)


def _cut_blobs(result: Mapping[str, Any], previous: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The blobs that must be cut. The text of earlier handlers does not count against the limit."""
    cut = {}
    for name in BLOBS:
        if blob := result.get(name):
            allowed = limit + len((previous.get(name) or "").encode())
            if len(blob.encode()) > allowed:
                cut[name] = _shorten(blob, allowed)
    return cut


def _cut_extras(extras: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """The extras, cut so that they have `limit` bytes together; {} if they are short enough."""
    shortened, left = [], limit
    for extra in extras:
        content = _shorten(extra["content"], left)
        left -= len(content.encode())
        shortened.append({**extra, "content": content})
    return {} if shortened == list(extras) else {"extras": shortened}


def _shorten(text: str, allowed: int) -> str:
    """The first `allowed` bytes of the text, without a partial character at the end."""
    return text.encode()[: max(allowed, 0)].decode("utf-8", "ignore")
