"""A run that was started for the view: its lines before and after the view, and its end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.process.detached import DetachedProcess
from samuel.process.live import is_registered
from samuel.watch.watching import watch_run

POLL = 0.1  # seconds


def watch_started(root: Path, process: DetachedProcess, methodology: str = "") -> int:
    """Show the run of this process; gives its exit code.

    Its lines are printed until it has begun, and again when its user has left the view. Ctrl-C is then handed on.
    """
    live = paths.User.from_environment().live
    with _interrupts_handed_on(process):
        code = _print_lines(process, lambda: is_registered(live, process.pid))
    if code is not None:
        return code
    if why := watch_run(root, methodology):
        print(why, file=sys.stderr, flush=True)
    with _interrupts_handed_on(process):
        code = _print_lines(process, lambda: False)
    assert code is not None
    return code


def _print_lines(process: DetachedProcess, is_enough: Callable[[], bool]) -> int | None:
    """Print what the run writes until that is enough; its exit code if it has ended before."""
    while True:
        code = process.exit_code()  # before its last lines are read
        while chunk := process.new_output():
            with suppress(OSError):  # the terminal may be closed
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
        if code is not None or is_enough():
            return code
        SystemClock().sleep(POLL)


@contextmanager
def _interrupts_handed_on(process: DetachedProcess) -> Iterator[None]:
    """The first Ctrl-C lets the run finish its attempts, the second one stops it now, as without a view."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)

    former = signal.signal(signal.SIGINT, hand_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
