"""The process between a worker that may be killed and the command it starts: when either ends, nothing is left.

    worker  -- stdin -->  guard  -- stdin -->  command  ->  whatever it starts
            <---------- stdout, stderr ------

The worker alone holds the writing end of the guard's stdin. When it is closed, by the worker or by its death, the
command's stdin is closed, which asks it to end; what is alive after `GRACE` seconds is killed. When the command
ends, however that happens, what it left running is killed. The guard is the subreaper of all of it, so that no new
session, no double fork and no cleared environment gets away. When the guard is killed, the command's stdin closes,
too, and what is left becomes the worker's.

Run as `python -m samuel.places.ray_guard COMMAND...`. Its exit code is the command's, or 128 plus the signal.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from samuel.process.ledger import any_child
from samuel.process.reason import NotRunnable
from samuel.process.spawn import start
from samuel.process.tree import end, own_all_children

GRACE = 5.0
"""Seconds that the command has to end by itself once its stdin is closed."""

_POLL = 0.05
_PENDING_LIMIT = 1 << 20  # bytes that wait for a command that does not read
_ROUNDS = 20  # of killing, half a second each, before what sits in the kernel is left to it
_NOT_STARTED = 127


def guard(argv: Sequence[str], grace: float = GRACE) -> int:
    """Run the command with this process's stdin, stdout and stderr; the exit code for this process."""
    own_all_children()
    parent = os.getppid()
    ending: list[int] = []
    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(signum, lambda signum, _: ending.append(signum))
    try:
        process = start(argv, cwd=os.getcwd(), env=os.environ, stdout=1, stderr=2)
    except NotRunnable as error:
        print(f"{error}", file=sys.stderr)
        return _NOT_STARTED
    try:
        _Relay(process).run(lambda: bool(ending) or os.getppid() != parent, grace)
    finally:
        for _ in range(_ROUNDS):
            end(process)
            if not any_child():
                break
    code = process.returncode
    return code if code >= 0 else 128 - code


class _Relay:
    """Hands stdin on to the command until that ends, or `grace` seconds after there is no more to come."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        self._process = process
        self._command = process.stdin
        self._pending = bytearray()
        self._open = True
        os.set_blocking(self._command.fileno(), False)

    def run(self, cancelled: Callable[[], bool], grace: float) -> None:
        until = 0.0
        while self._process.poll() is None:
            self._step()
            if cancelled():
                self._open = False
                self._pending.clear()
            if not self._open:
                until = until or time.monotonic() + grace
                if not self._pending:
                    self._command.close()
                if time.monotonic() > until:
                    return

    def _step(self) -> None:
        poll = select.poll()
        if self._open and len(self._pending) < _PENDING_LIMIT:
            poll.register(0, select.POLLIN)
        if self._pending:
            poll.register(self._command, select.POLLOUT)
        for fd, _ in poll.poll(_POLL * 1000):
            if fd == 0:
                chunk = os.read(0, 65536)
                self._pending += chunk
                self._open = bool(chunk)
            else:
                self._write()

    def _write(self) -> None:
        try:
            del self._pending[: os.write(self._command.fileno(), self._pending)]
        except BlockingIOError:
            pass
        except OSError:  # the command reads no more
            self._pending.clear()


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
