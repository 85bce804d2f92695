"""Time, ids and sleep: the only place that asks the machine for them, so that tests can give their own."""

from __future__ import annotations

import itertools
import os
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds on a clock that never steps back: for deadlines and durations."""

    def sleep(self, seconds: float) -> None: ...

    def new_id(self, prefix: str) -> str:
        """An id that sorts by time and is unique on this machine, like `evt-0192…`."""


class SystemClock:
    """Ids are a random prefix chosen once and a counter: one system call a process, not one an event."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.perf_counter)
    sleep = staticmethod(time.sleep)

    def __init__(self) -> None:
        self._base = f"{time.time_ns() // 1_000_000:011x}{os.urandom(4).hex()}"
        self._numbers = itertools.count(1)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}-{self._base}{next(self._numbers):06x}"


class FakeClock:
    """A clock that moves only when told to, and counts ids from one."""

    def __init__(self, start: float = 1_750_000_000.0) -> None:
        self._now = start
        self._count = 0
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds

    def new_id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}-{self._count}"


def iso(seconds: float) -> str:
    """`2025-01-15T10:23:45.123Z`: what every timestamp in a payload or a record looks like."""
    global _last
    whole = int(seconds)
    # Formatting a date costs more than the rest of an event; many events share a second.
    last = _last  # read once: another thread may be a second further
    if last[0] != whole:
        last = _last = (whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)))
    return "%s.%03dZ" % (last[1], (seconds - whole) * 1000)  # noqa: UP031  two thirds of an f-string's time


_last: tuple[int, str] = (0, "")
