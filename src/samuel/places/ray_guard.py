"""The processes between a worker that may be killed and its command: whichever of them ends, nothing is left.

    worker  ->  outer  ->  guard  ->  command  ->  whatever it starts
            ------------ stdin ----->
            <------ stdout, stderr --

The worker alone holds the writing end of the command's stdin. When it is closed, by the worker or by its death,
that asks the command to end; what is alive after some seconds is killed. So it is if the guard is told to end, and
then the command is told as well. When the command ends, however that happens, what it left running is killed. The
guard is the subreaper of all of it, so that no new session, no double fork and no cleared environment gets away.

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


def _told_to_end() -> Callable[[], bool]:
    """Whether this process was told to end, or its parent is gone; from now on a signal does no more than that."""
    parent, received = os.getppid(), list[int]()
    for signum in _ENDING:
        signal.signal(signum, lambda signum, _: received.append(signum))
    return lambda: bool(received) or os.getppid() != parent


def _wait(pid: int) -> int:
    """The guard's status when it has ended. It is told to end when we are."""
    is_over = _told_to_end()
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if is_over():
            os.kill(pid, signal.SIGTERM)
        time.sleep(_POLL)
    return ended[1]


def guard(argv: Sequence[str], grace: float) -> int:
    """Run the command with this process's stdin, stdout and stderr; the exit code for this process."""
    own_all_children()
    is_over = _told_to_end()
    try:
        process = start(argv, cwd=os.getcwd(), env=os.environ, stdin=0, stdout=1, stderr=2)
    except NotRunnable as error:
        print(f"{error}", file=sys.stderr)
        return _NOT_STARTED
    try:
        _wait_for_command(process, is_over, grace)
    finally:
        for _ in range(_ROUNDS):
            end(process)
            if not any_child():
                break
    code = process.returncode
    return code if code >= 0 else 128 - code


def _wait_for_command(process: subprocess.Popen[bytes], is_over: Callable[[], bool], grace: float) -> None:
    """Wait until the command ends, or `grace` seconds after it was asked to."""
    poll = select.poll()
    poll.register(0, 0)  # only the hang-up, never the data: that is for the command
    until = 0.0
    while process.poll() is None and not (until and time.monotonic() > until):
        if until:
            time.sleep(_POLL)
        elif poll.poll(_POLL * 1000):  # the command sees it too
            until = time.monotonic() + grace
        elif is_over():
            process.terminate()
            until = time.monotonic() + grace


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], float(sys.argv[1])))
