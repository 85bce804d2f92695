"""Reading what an agent's program reports about itself: JSON objects, a line each, among other lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from samuel.agents.agent import AgentUsage


def objects(lines: Iterable[bytes], kind: str) -> Iterator[dict[str, Any]]:
    """The objects whose `type` is `kind`. Lines that cannot be one are not decoded: a transcript may be long."""
    quoted = f'"{kind}"'.encode()
    for line in lines:
        if quoted not in line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.get("type") == kind:
            yield value


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
    if isinstance(cost, int | float) and not isinstance(cost, bool) and cost > 0:
        usage["cost_usd"] = cost
    return usage


def count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
