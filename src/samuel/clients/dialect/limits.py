"""What a client does with the kinds of results that handlers give: facts, each with its reason.

An event that a client does not report is missing in its `events`; everything that is not listed here is honoured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# The kinds of results
DENY, ASK, REWRITE, CONTEXT, OUTPUT, FOLLOW_UP = "deny", "ask", "rewrite", "context", "output", "follow_up"
EVENT = "event"  # of any handler: how the client fires the event
KINDS = (EVENT, DENY, ASK, REWRITE, CONTEXT, OUTPUT, FOLLOW_UP)

HONOURED, LIMITED, LOST = "honoured", "limited", "lost"


class Limit(NamedTuple):
    """`honoured`, `limited` or `lost`, and why; "" where there is nothing to say."""

    verdict: str
    why: str


Limits = Mapping[tuple[str, str], Limit]  # Samuel's event, the kind of result -> the fact


def limited(why: str) -> Limit:
    return Limit(LIMITED, why)


def lost(why: str) -> Limit:
    return Limit(LOST, why)
