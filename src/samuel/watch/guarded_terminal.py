"""Starts the guard of the terminal, and tells it what the view does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import Popen

from samuel.process import environment, spawn
from samuel.watch import terminal_guard


class TerminalGuard:
    """The guard process of this terminal."""

    def __init__(self, process: Popen[bytes], pipe: int) -> None:
        self._process = process
        self._pipe = pipe

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def modes_set(self) -> None:
        """The view has set its modes."""
        self._tell(terminal_guard.MODES_SET)

    def restored(self) -> None:
        """The view has left the terminal as it was."""
        self._tell(terminal_guard.RESTORED)

    def _tell(self, message: bytes) -> None:
        with suppress(OSError):  # the guard was killed
            os.write(self._pipe, message)


@contextmanager
def guarded_terminal() -> Iterator[TerminalGuard]:
    """A guard that restores the terminal unless this process says that it has done so itself."""
    read_end, write_end = os.pipe()  # not inherited by any other process
    argv = [sys.executable, "-I", "-S", terminal_guard.__file__]
    try:
        process = spawn.start(argv, cwd="/", env=environment.clean(), stdin=read_end, stdout=sys.stdout.fileno())
    finally:
        os.close(read_end)
    guard = TerminalGuard(process, write_end)
    try:
        assert process.stderr is not None
        with process.stderr as answer:
            answer.read(1)  # nothing if it was killed, which the view notices
        yield guard
        guard.restored()
    finally:
        os.close(write_end)
        process.wait()
