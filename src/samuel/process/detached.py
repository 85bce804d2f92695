"""A program that goes on as two processes: one keeps the terminal, the other one outlives it."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import BinaryIO

CHUNK = 65536


class DetachedProcess:
    """The process without the terminal, as the one with the terminal sees it."""

    def __init__(self, pid: int, output: BinaryIO) -> None:
        self.pid = pid
        self._output = output
        self._position = 0
        self._exit_code: int | None = None

    def new_output(self) -> bytes:
        """What it has written since the last call."""
        chunk = os.pread(self._output.fileno(), CHUNK, self._position)
        self._position += len(chunk)
        return chunk

    def exit_code(self) -> int | None:
        """Its exit code, as a shell has it; None while it runs."""
        if self._exit_code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                self._exit_code = code if code >= 0 else 128 - code
        return self._exit_code


def detach() -> DetachedProcess | None:
    """Go on as two processes: gives the other one, and in that other one None.

    The other one is in a session of its own, has no input, and writes to a file without a name. May be called by a
    process with one thread only.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    output = tempfile.TemporaryFile()  # noqa: SIM115  for as long as both live
    pid = os.fork()
    if pid:
        return DetachedProcess(pid, output)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output.fileno(), 1), (output.fileno(), 2)):
        os.dup2(source, target)
    os.close(nothing)
    output.close()
    return None
