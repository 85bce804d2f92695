"""What agents used, in words."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from samuel.base.wording import plural
from samuel.history import budgets

UNKNOWN = "unknown"


class CostSummary(msgspec.Struct, frozen=True):
    """What agents used, as far as it is known."""

    usd: float | None = None
    tokens: int | None = None
    unknown: int = 0
    """Agents that did not report what they used."""

    @classmethod
    def of(cls, usages: Iterable[budgets.Usage]) -> CostSummary:
        """The sum of these usages; an empty one is unknown."""
        usd: float | None = None
        tokens: int | None = None
        unknown = 0
        for usage in usages:
            price, count = budgets.cost(usage), budgets.tokens(usage)
            if price is not None:
                usd = (usd or 0.0) + price
            if count is not None:
                tokens = (tokens or 0) + count
            unknown += price is None and count is None
        return cls(usd, tokens, unknown)

    @property
    def words(self) -> str:
        """`$1.20, 45,000 tokens`. What is not known is called unknown, and is never zero."""
        return f"{self.price}, {self.detail}" if self.detail else self.price

    @property
    def price(self) -> str:
        """`$1.20` or `at least $1.20`; the tokens where the price is not known."""
        if self.usd is None:
            return UNKNOWN if self.tokens is None else f"{self._least}{self.tokens:,} tokens"
        return f"{self._least}${self.usd:.2f}"

    @property
    def detail(self) -> str:
        """What `price` leaves out: the tokens, and how many attempts did not report what they used."""
        parts = [f"{self.tokens:,} tokens"] if self.usd is not None and self.tokens is not None else []
        if self.unknown and (self.usd is not None or self.tokens is not None):
            parts.append(f"{plural(self.unknown, 'attempt')} unknown")
        return ", ".join(parts)

    @property
    def _least(self) -> str:
        return "at least " if self.unknown else ""

    @property
    def short(self) -> str:
        """`$1.20`, or the tokens where the price is not known."""
        if self.usd is None and self.tokens is None:
            return UNKNOWN
        more = "+" if self.unknown else ""
        return f"${self.usd:.2f}{more}" if self.usd is not None else f"{self.tokens:,} tok{more}"


def cost(usage: budgets.Usage) -> str:
    """`, 12,345 tokens, $0.12`, for agents that report their usage; "" for others."""
    summary = CostSummary.of([usage])
    parts = [f"{summary.tokens:,} tokens"] if summary.tokens else []
    if summary.usd:
        parts.append(f"${summary.usd:.2f}" if summary.usd >= 0.005 else "<$0.01")
    return f", {', '.join(parts)}" if parts else ""
