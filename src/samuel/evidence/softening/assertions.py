"""What an assertion demands, and which assertions of a test have nothing as strong in their place any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

MAX_QUOTED = 80  # characters of an assertion in a finding


class Demand(IntEnum):
    """How much a value can differ before an assertion about it fails."""

    NOTHING = 0
    """It can only pass, or is not reached."""
    SOME = 1
    """It must not be empty, or must differ; or the assertion is behind a condition."""
    RANGE = 2
    """It must be greater or less, in a list, near another value, or of a type."""
    EXACT = 3


class Assertion(NamedTuple):
    text: str
    demand: Demand
    tolerance: float = 0.0
    context: tuple[str, ...] = ()
    """What is around it, from the outside: conditions, loops, blocks that catch a failure."""

    @property
    def strength(self) -> tuple[int, float]:
        return self.demand, -self.tolerance if self.demand == Demand.RANGE else 0.0

    @property
    def quoted(self) -> str:
        text = " ".join(self.text.split())
        return f"`{text if len(text) <= MAX_QUOTED else f'{text[:MAX_QUOTED]}...'}`"


class LostAssertion(NamedTuple):
    assertion: Assertion
    instead: Assertion | None
    """A weaker one that is in its place; None if nothing is."""


AssertionCounts = Counter[str]
"""How often each assertion is in all tests together, by its text."""


def counted(assertions: Iterable[Assertion]) -> AssertionCounts:
    return Counter(item.text for item in assertions if item.demand)


def lost_assertions(
    before: Sequence[Assertion],
    after: Sequence[Assertion],
    all_before: AssertionCounts | None = None,
    all_after: AssertionCounts | None = None,
) -> list[LostAssertion]:
    """The assertions of `before` that `after` has neither as they were nor replaced by others as strong.

    One that is in another test now is not lost; and a copy of one that was in any test demands nothing more.
    """
    was, is_now = all_before or counted(before), all_after or counted(after)
    old, new = ({(item.text, item.demand, item.context): item for item in items} for items in (before, after))
    gone = [item for key, item in old.items() if key not in new and item.demand]
    is_here = {item.text for item in after}
    gone = [item for item in gone if item.text in is_here or is_now[item.text] < was[item.text]]
    added = [
        item for key, item in new.items() if key not in old and (not was[item.text] or item.text in _texts(gone))
    ]
    gone.sort(key=_by_strength, reverse=True)
    added.sort(key=_by_strength, reverse=True)
    lost: list[LostAssertion] = []
    for at, item in enumerate(gone):
        instead = added[at] if at < len(added) else None
        if instead is None or instead.strength < item.strength:
            lost.append(LostAssertion(item, instead))
    return lost


def _texts(assertions: Iterable[Assertion]) -> set[str]:
    return {item.text for item in assertions}


def count_of(assertions: Sequence[Assertion]) -> int:
    """The number of those that can fail, each once."""
    return len({(item.text, item.context) for item in assertions if item.demand})


def _by_strength(assertion: Assertion) -> tuple[int, float]:
    return assertion.strength
