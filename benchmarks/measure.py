"""Measuring side by side: the things compared take turns within one run, so that noise hits both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Times(NamedTuple):
    p50: float
    p95: float

    def __str__(self) -> str:
        return f"{_human(self.p50)} / {_human(self.p95)}"


class Row(NamedTuple):
    """One comparison: ours beside the other, and the aim where missing it is a defect."""

    what: str
    ours: str
    other: str
    ratio: str
    aim: str = "-"
    met: bool = True

    @property
    def verdict(self) -> str:
        """`met`, `**missed**`, or nothing where there is no aim."""
        if self.aim == "-":
            return ""
        return "met" if self.met else "**missed**"


def take_turns(
    *functions: Callable[[], object],
    rounds: int,
    inner: int = 1,
    warm_up: int = 3,
    before: Callable[[], object] | None = None,
) -> list[Times]:
    """p50 and p95 of one call of each, in seconds. `inner` calls are timed together when one is too short.

    `before` is called before each, and not timed: then all of them find the same in the processor's caches.
    """
    for function in functions:
        for _ in range(warm_up * inner):
            function()
    samples: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, sample in zip(functions, samples, strict=True):
            if before is not None:
                before()
            started = time.perf_counter()
            for _ in range(inner):
                function()
            sample.append((time.perf_counter() - started) / inner)
    return [times(sample) for sample in samples]


def at_most(what: str, ours: Times, other: Times, limit: float) -> Row:
    ratio = ours.p50 / other.p50
    return Row(what, str(ours), str(other), f"{ratio:.2f}x", f"<= {limit:g}x", ratio <= limit)


def at_least(what: str, ours: Times, other: Times, limit: float) -> Row:
    """How many times faster ours is."""
    ratio = other.p50 / ours.p50
    return Row(what, str(ours), str(other), f"{ratio:.0f}x faster", f">= {limit:g}x", ratio >= limit)


def beside(what: str, ours: Times, other: Times) -> Row:
    """What it costs. The reason is in the notes of RESULTS.md, and it is not a defect: so there is no aim."""
    return Row(what, str(ours), str(other), f"{ours.p50 / other.p50:.2f}x")


def faster(what: str, ours: Times, other: Times) -> Row:
    """How many times faster ours is, without an aim."""
    return Row(what, str(ours), str(other), f"{other.p50 / ours.p50:.0f}x faster")


def below(what: str, ours: Times, seconds: float) -> Row:
    return Row(what, str(ours), "-", _human(ours.p50), f"<= {_human(seconds)}", ours.p50 <= seconds)


def times(sample: list[float]) -> Times:
    ordered = sorted(sample)
    return Times(statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))])


def _human(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
