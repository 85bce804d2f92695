"""Advances the epoch of a wasmtime engine, so that calls end at their deadlines.

A module is stopped when the engine's epoch reaches a number. One thread advances the epoch for all calls of an
engine. It ends some time after the last call: starting a thread for each call would take longer than most calls.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

TICK = 0.01
LINGER = 100  # ticks without a call


class Ticker:
    """Context manager for a call: within it, the epoch advances by one every TICK seconds."""

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
        """End the thread as soon as no call is running."""
        self._closed = True

    def _run(self) -> None:
        last, idle = time.perf_counter(), 0
        while self._is_needed(idle):
            time.sleep(TICK)
            # Ticks are counted by the time that passed: on a busy machine this loop is late at times.
            ticks = int((time.perf_counter() - last) / TICK)
            last += ticks * TICK
            for _ in range(ticks):
                self._advance()
            idle = 0 if self._calls else idle + 1

    def _is_needed(self, idle: int) -> bool:
        with self._lock:
            self._runs = bool(self._calls) or not (self._closed or idle > LINGER)
            return self._runs


def ticks(seconds: float) -> int:
    """How many ticks `seconds` are. The current tick may be nearly over, so it does not count."""
    return math.ceil(max(seconds, 0.0) / TICK) + 1
