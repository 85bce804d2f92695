"""Signal handlers of the command line: the one place that installs any."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from samuel.process.emit_client import DeadlinePassed

END = (signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end, beside Ctrl-C."""


GRACE = 5
"""Seconds to end what was started, after a deadline."""


def end_as_by_ctrl_c() -> None:
    """From now on SIGTERM and SIGHUP raise KeyboardInterrupt, and the end of a deadline DeadlinePassed.

    So what Samuel started is ended first.
    """
    for number in END:
        signal.signal(number, signal.default_int_handler)
    signal.signal(signal.SIGALRM, _end_of_deadline)


def _end_of_deadline(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the second one ends this process at once
    signal.alarm(GRACE)
    raise DeadlinePassed


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt in this context, so that a session or a call gets its end."""
    with handled_by(signal.default_int_handler, *END):
        yield


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None], *numbers: int) -> Iterator[None]:
    """In this context `handler` gets these signals; afterwards the former handlers get them again."""
    former = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, before)
