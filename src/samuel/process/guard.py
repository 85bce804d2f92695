"""A process around another one, which sees to it that nothing is left when that one is killed.

Whatever was started below the guarded process becomes a child of the guard when its parents die, in whatever
session it is. When the guarded process has ended, the guard ends all of these. When the guard itself is killed,
the kernel tells the guarded process, which then ends what it started, and itself.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from samuel.process import procfs

WITHIN = 10.0  # seconds; what SIGKILL has not ended by then sits in the kernel
END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def guarded(work: Callable[[], int]) -> int:
    """Call `work` in a process of its own; gives its exit code. Nothing that it started is left then.

    SIGTERM, SIGINT and SIGHUP are handed on to it as SIGTERM. May be called by a process with one thread only.
    """
    procfs.be_subreaper(True)
    guard, blocked = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, END)
    pid = os.fork()
    if pid == 0:
        procfs.be_subreaper(True)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        procfs.signal_at_death_of_parent(signal.SIGTERM)
        if os.getppid() != guard:
            os._exit(1)
        return work()

    def hand_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    for number in END:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    while True:
        try:
            ended, status = os.waitpid(-1, 0)  # orphans that came to us are reaped on the way
        except ChildProcessError:
            return 1
        if ended == pid:
            break
    _end_all_below()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _end_all_below() -> None:
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        left = procfs.with_descendants(procfs.main_thread_children())
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)
