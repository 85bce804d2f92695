"""The processes between a worker that may be killed and its command: whichever of them ends, nothing is left.

    worker  -- stdin -->  outer  ->  guard  -- stdin -->  command  ->  whatever it starts
            <---------------- stdout, stderr ------------

The worker alone holds the writing end of the guard's stdin. When it is closed, by the worker or by its death, the
command's stdin is closed, which asks it to end; what is alive after some seconds is killed. When the command ends,
however that happens, what it left running is killed. The guard is the subreaper of all of it, so that no new
session, no double fork and no cleared environment gets away.

The outer process is there for two deaths. A worker of Ray whose node died kills its own children before it ends:
that is the outer process alone, and the guard notices. If the guard is killed, the outer process does its work.

Run as `python -m samuel.places.ray_guard SECONDS COMMAND...`. It ends with the command's exit code, or 128 plus
the signal that killed it.
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
from samuel.process.tree import Tree, end, own_all_children

GRACE = 35.0
"""Seconds that an attempt has to end by itself when it is cancelled: its work may be on its way to the remote."""

_POLL = 0.05
_PENDING_LIMIT = 1 << 20  # bytes that wait for a command that does not read
_ROUNDS = 20  # of killing, half a second each, before what sits in the kernel is left to it
_NOT_STARTED = 127
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def main(argv: Sequence[str], grace: float) -> int:
    """The outer process; the guard is its child."""
    with Tree() as tree:  # from here on, orphans are ours
        own_all_children()
        pid = os.fork()
        if pid == 0:
            code = _NOT_STARTED
            try:
                code = guard(argv, grace)
            finally:
                os._exit(code)
        status = _wait(pid)
        tree.kill(within=_ROUNDS / 2)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _wait(pid: int) -> int:
    """The guard's status when it has ended. It is asked to end when we are, or when our parent is gone."""
    parent = os.getppid()
    ending: list[int] = []
    for signum in _ENDING:
        signal.signal(signum, lambda signum, _: ending.append(signum))
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if ending or os.getppid() != parent:
            os.kill(pid, signal.SIGTERM)
        time.sleep(_POLL)
    return ended[1]


def guard(argv: Sequence[str], grace: float) -> int:
    """Run the command with this process's stdin, stdout and stderr; the exit code for this process."""
    own_all_children()
    parent = os.getppid()
    ending: list[int] = []
    for signum in _ENDING:
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
    sys.exit(main(sys.argv[2:], float(sys.argv[1])))
