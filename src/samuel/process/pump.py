"""The three pipes of a running process: fed and drained together, so that no side blocks the other."""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Callable
from typing import Literal

STDERR_KEPT = 64 * 1024
LINGER = 0.25  # seconds that a pipe may stay open after the process itself ended: a grandchild holds it

_CHUNK = 64 * 1024  # what a pipe holds
_TICK = 0.01  # how often to ask for the exit where the kernel cannot wake us
_ATOMIC = 4096  # a new pipe takes this much without blocking, however short of memory the system is

Stopped = Literal["exited", "timed_out", "too_much_output", "stopped"]


class Pump:
    """Opens the pipes, hands out the far ends, and moves bytes until the process is done or time is up."""

    def __init__(
        self,
        stdin: bytes,
        output_limit: int,
        on_output: Callable[[bytes], None] | None = None,
        stdout_to: Callable[[bytes], object] | None = None,
        stderr_to: Callable[[bytes], object] | None = None,
        keep: int | None = None,
    ) -> None:
        self.stdout = bytearray()
        self.stderr = bytearray()
        self._room = output_limit
        self._keep = keep
        self._on_output = on_output
        self._stdout_to = stdout_to
        self._stderr_to = stderr_to
        self._open: set[int] = set()
        self._poll = select.poll()
        self._in = self._out = self._err = self._pidfd = -1
        self._exited: Callable[[], bool] | None = None
        self._ended_at: float | None = None
        self._rest = memoryview(stdin)
        self.ends = self._open_pipes()

    def _open_pipes(self) -> tuple[int, int, int]:
        try:
            their_in, self._in = self._pipe()
            self._out, their_out = self._pipe()
            self._err, their_err = self._pipe()
        except OSError:  # too many open files
            self.close()
            raise
        # Most payloads fit into the pipe at once: the process finds them there, followed by the end of the
        # file, and stdin needs no more attention.
        if len(self._rest) > _ATOMIC:
            os.set_blocking(self._in, False)
        self._feed()
        return their_in, their_out, their_err

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def started(self, pid: int, exited: Callable[[], bool]) -> None:
        """The process has its own copies of its ends now. `exited` is asked where there is no pidfd."""
        try:
            self._pidfd = os.pidfd_open(pid)
        except (AttributeError, OSError):  # not Linux, too old, forbidden by seccomp, too many open files
            self._exited = exited
        else:
            self._open.add(self._pidfd)
            self._poll.register(self._pidfd, select.POLLIN)
        self._begin()

    def _begin(self) -> None:
        for fd in self.ends:
            self._close(fd)
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        if self._in >= 0:
            self._poll.register(self._in, select.POLLOUT)

    def run(
        self, until: float | None, stop: Callable[[], bool] | None = None, every: float | None = None
    ) -> Stopped:
        """Until the process ended and its output too, until then (`time.perf_counter`), or until `stop` says so.

        `stop` is asked after each output, and at least once in `every` seconds. Output that a grandchild keeps
        open after the end is awaited for LINGER and no longer.
        """
        while True:
            if self._ended_at is not None:
                if self._all_said():
                    return "exited"
                until = self._ended_at + LINGER
            pause = None
            if until is not None:
                pause = until - time.perf_counter()
                if pause <= 0:
                    return "timed_out" if self._ended_at is None else "exited"
            if every is not None and self._ended_at is None:
                pause = every if pause is None else min(pause, every)
            if not self._move(pause):
                return "too_much_output"
            if stop is not None and self._ended_at is None and stop():
                return "stopped"

    def drain(self) -> None:
        """What is in the pipes right now: the last words of something that was killed."""
        for _ in range(4):  # a pipe is empty after one round, or a process that could not be killed still writes
            if self._all_said() or not self._move(0):
                return

    def close(self) -> None:
        for fd in tuple(self._open):
            self._close(fd)

    def _move(self, pause: float | None) -> bool:
        """Wait for something to happen and handle it. False when there is more output than allowed."""
        if self._exited is not None:
            pause = _TICK if pause is None else min(pause, _TICK)
        for fd, happened in self._poll.poll(None if pause is None else pause * 1000):
            if fd == self._pidfd:
                self._end()
            elif fd == self._in:
                self._feed()
            elif not self._take(fd, ended=not happened & select.POLLIN):
                return False
        if self._exited is not None and self._exited():
            self._exited = None
            self._end()
        return True

    def _all_said(self) -> bool:
        return self._out < 0 and self._err < 0

    def _end(self) -> None:
        self._ended_at = time.perf_counter()
        if self._pidfd >= 0:
            self._close(self._pidfd)
            self._pidfd = -1  # the number may be reused for another file

    def _feed(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._in, self._rest) :]
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EPIPE:  # it need not read what it was given
                raise
        self._close(self._in)
        self._in = -1

    def _take(self, fd: int, ended: bool) -> bool:
        chunk = b"" if ended else os.read(fd, _CHUNK)
        if not chunk:
            self._close(fd)
            if fd == self._out:
                self._out = -1
            else:
                self._err = -1
            return True
        if fd == self._err:
            _append(self.stderr, chunk, STDERR_KEPT)
            allowed = True
            if self._stderr_to is not None:
                self._stderr_to(chunk)
        else:
            allowed = len(chunk) <= self._room
            chunk = chunk[: self._room]
            self._room -= len(chunk)
            _append(self.stdout, chunk, self._keep)
            if self._stdout_to is not None:
                self._stdout_to(chunk)
        if self._on_output is not None and chunk:
            self._on_output(chunk)
        return allowed

    def _close(self, fd: int) -> None:
        self._open.remove(fd)
        try:
            self._poll.unregister(fd)
        except KeyError:
            pass
        os.close(fd)


def _append(tail: bytearray, chunk: bytes, keep: int | None) -> None:
    tail += chunk
    if keep is not None and len(tail) > 2 * keep:  # twice: so that not every chunk moves the rest
        del tail[:-keep]
