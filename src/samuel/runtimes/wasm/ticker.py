"""The clock by which wasmtime ends what takes too long.

A module is stopped when the engine's epoch reaches a number, and somebody has to count it up. One thread does so
for all calls of an engine. It ends a while after the last of them: starting it for each would cost more than most
calls take.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

TICK = 0.01
LINGER = 100  # ticks without a call


class Ticker:
    """`with ticker:` around each call; in it, the epoch advances by one each TICK seconds."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance
        self._lock = threading.Lock()
        self._calls = 0
        self._runs = False
        self._closed = False

    def __enter__(self) -> None:
        with self._lock:
            self._calls += 1
            if self._runs:
                return
            self._runs = True
        threading.Thread(target=self._run, name="samuel-wasm-ticker", daemon=True).start()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._calls -= 1

    def close(self) -> None:
        """It ends as soon as no call runs any more."""
        self._closed = True

    def _run(self) -> None:
        last, idle = time.perf_counter(), 0
        while self._wanted(idle):
            time.sleep(TICK)
            # By the time that passed, not by the turns of this loop: on a busy machine it is late at times.
            ticks = int((time.perf_counter() - last) / TICK)
            last += ticks * TICK
            for _ in range(ticks):
                self._advance()
            idle = 0 if self._calls else idle + 1

    def _wanted(self, idle: int) -> bool:
        with self._lock:
            self._runs = bool(self._calls) or not (self._closed or idle > LINGER)
            return self._runs


def ticks(seconds: float) -> int:
    """How many until then. The one under way may be nearly over, so it does not count."""
    return math.ceil(max(seconds, 0.0) / TICK) + 1
