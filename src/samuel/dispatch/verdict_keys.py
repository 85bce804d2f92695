"""Finds keys of a result that were probably meant as a verdict, and have no effect.

Keys that the protocol does not define stay in a result. So a guard that returns `{"decison": "deny"}`, or that
uses the words of another system, would allow everything without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from samuel.base.nearest import hint, nearest_name
from samuel.base.printable import safe
from samuel.dispatch.stated_reason import with_reason
from samuel.events import EVENTS, EventType
from samuel.hooks.handler import Outcome
from samuel.runtimes.base import Reply

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
