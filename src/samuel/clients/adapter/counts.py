"""Reading the counts in what an agent's program reports about itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from samuel.clients.adapter.stream import AgentUsage

_MOST_MESSAGES = 1000  # whose counts may still change


def tally(entries: Iterable[tuple[object, object, object]], cost: object = None) -> AgentUsage:
    """The sum of (input, output, cached) triples. Input counts everything that was read, from the cache or not."""
    read = output = cached = 0
    for entry in entries:
        read, output, cached = (
            have + count(more) for have, more in zip((read, output, cached), entry, strict=True)
        )
    usage: AgentUsage = {}
    if read or output:
        usage = {"input_tokens": read, "output_tokens": output}
    if cached:
        usage["cached_tokens"] = cached
    if money := amount(cost):
        usage["cost_usd"] = money
    return usage


def added(usage: AgentUsage, more: AgentUsage) -> AgentUsage:
    """The sum of both."""
    return {**usage, **{name: usage.get(name, 0) + value for name, value in more.items()}}


class MessageCounts:
    """The sum over messages, each of which may be reported several times with counts that grow."""

    def __init__(self) -> None:
        self._total = [0, 0, 0]
        self._latest: dict[str, Sequence[int]] = {}

    def add(self, message_id: object, entry: tuple[int, int, int]) -> AgentUsage:
        """The usage with this report of a message."""
        key = message_id if isinstance(message_id, str) else ""
        before = self._latest.get(key, (0, 0, 0)) if key else (0, 0, 0)
        latest = [max(old, new) for old, new in zip(before, entry, strict=True)]
        self._total = [total + new - old for total, new, old in zip(self._total, latest, before, strict=True)]
        if key:
            self._latest[key] = latest
            if len(self._latest) > _MOST_MESSAGES:
                del self._latest[next(iter(self._latest))]
        read, output, cached = self._total
        return tally([(read, output, cached)])


def count(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def amount(value: object) -> int | float:
    """A sum of money, or 0 if it is none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[dict[str, Any]]:
    """The objects in an array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(content: object) -> str:
    """The text of a message: itself, or that of its parts."""
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in tables(content) if part.get("type") == "text")
    return "\n".join(part for part in parts if isinstance(part, str))
