"""What this process knows about its children: which it started, and how many calls are under way."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from samuel.process import procfs

MARK = "SAMUEL_CALL"
"""The environment variable that carries a call's mark, `<id>/`.

A Samuel inside a call of another Samuel appends its own id, so the outer mark is a prefix of the inner one
and the outer call finds what the inner one left behind.
"""

UNKNOWN = 255
"""The return code when another waiter took the exit status. Not 0: a fault must not look like a success."""


class Ledger:
    """Children belong to a process, not to an object in it, so there is one ledger in each process."""

    def __init__(self) -> None:
        # Held while children are listed, signalled and reaped: a pid on a list stays the process it was,
        # because no other thread can reap it meanwhile. Re-entrant, since a signal handler may start
        # processes too.
        self.lock = threading.RLock()
        self.started: dict[int, str] = {}  # pid -> mark
        self.spared: set[int] = set()  # those of `started` that go on when calls are killed, and end by themselves
        self.in_flight = 0
        self.alone = False
        self.ending = False  # what was started is being killed: see `tree.end_calls`
        self.undead: set[int] = set()  # killed, but not gone when we stopped waiting: to reap later
        self.linux = procfs.available()
        self._subreaper = False
        # What the marks of all calls of this process begin with.
        self.prefix = f"{os.environ.get(MARK, '')}{os.getpid():x}-{os.urandom(4).hex()}"
        self._count = itertools.count(1)

    def new_mark(self) -> str:
        return f"{self.prefix}-{next(self._count):x}/"

    def enter(self) -> None:
        """Something is being started or ended: until `leave`, other threads take no child for a stray."""
        with self.lock:
            self.in_flight += 1
            if self.linux and not self._subreaper:
                procfs.be_subreaper(True)  # where that fails, orphans go to init as ever
                self._subreaper = True
            if self.undead:
                self.undead = {pid for pid in self.undead if reap(pid) is None}

    def leave(self) -> None:
        with self.lock:
            self.in_flight -= 1
            self._rest()

    @contextmanager
    def busy(self) -> Iterator[None]:
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def remember(self, pid: int, mark: str) -> None:
        with self.lock:
            self.started[pid] = mark

    def forget(self, pid: int) -> None:
        with self.lock:
            self.started.pop(pid, None)
            self.spared.discard(pid)
            self._rest()

    def spare(self, pid: int) -> None:
        """Let a process that was started go on when the calls of this process are killed."""
        with self.lock:
            self.spared.add(pid)

    def _rest(self) -> None:
        """With nothing of ours alive, orphans are not ours: those of a host go where the host expects them."""
        if self._subreaper and not (self.in_flight or self.started or self.alone):
            procfs.be_subreaper(False)
            self._subreaper = False


LEDGER = Ledger()


def _after_fork() -> None:
    vars(LEDGER).update(vars(Ledger()))  # a fork has none of our children, and is not a subreaper


os.register_at_fork(after_in_child=_after_fork)


def any_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def reap(pid: int) -> int | None:
    """The return code, as subprocess has it; None while it lives."""
    try:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return UNKNOWN  # not our child, or SIGCHLD is ignored, or other code waits for any child
    return os.waitstatus_to_exitcode(status) if ended_pid else None
