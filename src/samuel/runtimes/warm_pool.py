"""Processes that are kept for later calls: workers and containers.

Each runs one call at a time. A call takes an idle one of its owner (a plugin, a directory of hooks) or starts one.
A start costs a thousand times as much as a call, so when as many are busy as the machine has processors, a call
waits a moment for one of them; only if none becomes idle, since they wait or hang, one more is started. So a call
that hangs holds up no call for longer than that moment. Processes that were not needed for a minute are ended by
the next call, of whatever owner, but for the last one of each: calls may be minutes apart.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

USUAL = max(os.cpu_count() or 1, 2)  # busy processes of one owner, above which a call waits for one
MOST = 64  # processes of one owner
GROW_AFTER_SECONDS = 0.05
IDLE_SECONDS = 60.0


class WarmProcess(Protocol):
    """What a pool keeps."""

    def is_usable(self) -> bool:
        """False if it died, or would not see what a new one sees."""

    def close(self) -> None: ...


P = TypeVar("P", bound=WarmProcess)


class AllBusy(Exception):
    """No process became idle in time, and no further one may be started."""


class WarmPool(Generic[P]):
    """The processes of one runtime. May be used by many threads at the same time."""

    def __init__(self, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()  # used alone where no thread is to be woken: `with` a condition is slower
        self._changed = threading.Condition(self._lock)
        self._waiting = 0  # calls that wait for a process
        self._idle: dict[Hashable, list[tuple[P, float]]] = {}  # the last one was used last
        self._count: dict[Hashable, int] = {}  # idle and busy ones
        self._closed = False

    def take(self, owner: Hashable, start: Callable[[], P], wait: float) -> P:
        """A process for one call, which is given back or discarded after it. Raises AllBusy after `wait` seconds.

        `start` is called if a new one is needed, and may raise what it likes.
        """
        self._end_unneeded()
        while (process := self._idle_process(owner, wait)) is not None:
            if process.is_usable():
                return process
            self.discard(owner, process)
        try:
            return start()
        except BaseException:
            self._forget(owner)
            raise

    def give_back(self, owner: Hashable, process: P) -> None:
        """The call is over, and the process is fit for another."""
        with self._lock:
            if not self._closed:
                self._idle.setdefault(owner, []).append((process, self._monotonic()))
                if self._waiting:
                    self._changed.notify_all()  # the waiting calls may be of other owners
                return
        self.discard(owner, process)

    def discard(self, owner: Hashable, process: P) -> None:
        """The process must not be used again."""
        try:
            process.close()
        finally:
            self._forget(owner)

    def close(self) -> list[P]:
        """No process is kept from now on. Returns the idle ones, for the caller to close."""
        with self._changed:
            self._closed = True
            idle = [(owner, process) for owner, processes in self._idle.items() for process, _ in processes]
            self._idle.clear()
        for owner, _ in idle:
            self._forget(owner)
        return [process for _, process in idle]

    def _idle_process(self, owner: Hashable, wait: float) -> P | None:
        """An idle process; None if the caller is to start one, which is counted already."""
        now = self._monotonic()
        until, grow_at = now + wait, now + min(wait, GROW_AFTER_SECONDS)
        with self._lock:
            while not (idle := self._idle.get(owner)):
                count, now = self._count.get(owner, 0), self._monotonic()
                if count < USUAL or (now >= grow_at and wait > 0 and count < MOST):
                    self._count[owner] = count + 1
                    return None
                if now >= until:
                    raise AllBusy
                self._waiting += 1
                try:
                    self._changed.wait((grow_at if now < grow_at else until) - now)
                finally:
                    self._waiting -= 1
            process, _ = idle.pop()
            if not idle:
                del self._idle[owner]
            return process

    def _end_unneeded(self) -> None:
        before = self._monotonic() - IDLE_SECONDS
        unneeded: list[tuple[Hashable, P]] = []
        with self._lock:
            for owner, idle in self._idle.items():
                while len(idle) > 1 and idle[0][1] < before:
                    unneeded.append((owner, idle.pop(0)[0]))
        for owner, process in unneeded:
            self.discard(owner, process)

    def _forget(self, owner: Hashable) -> None:
        with self._changed:
            self._count[owner] -= 1
            if not self._count[owner]:
                del self._count[owner]
            self._changed.notify_all()
