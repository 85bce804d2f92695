"""What runs on a node of a Ray cluster: one `samuel` command below a guard, and its lines.

This module does not import Ray. It runs in one of Ray's workers, which serves other attempts later, so that
whatever it changes in the process is put back.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from samuel.places.place import PlaceBroken, PlaceLost
from samuel.places.process import ProcessConnection
from samuel.process.spawn import run, start

_GUARD_SECONDS = 10  # for the guard to kill what did not end by itself
_SUBREAPER_OPTION = "RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper"
_OF_RAY = ("OMP_NUM_THREADS", "PYTHONBREAKPOINT", "SPT_NOENV")  # set in workers only

# What a task yields. Plain tuples, because Ray pickles them: no class of ours has to be the same on both sides.
STARTED = "started"  # ("started", machine, process id of the guard)
LINES = "lines"  # ("lines", [line, ...])
ENDED = "ended"  # ("ended", exit code, the last of stderr)
BROKEN = "broken"  # ("broken", why the node cannot run attempts)


def exit_code_problem() -> str:
    """Why exit codes do not arrive in this process; "" if they do.

    With Ray's subreaper option the kernel reaps the children of workers, and each of them seems to have ended with
    0: a check that failed would count as passed. `signal.getsignal` does not show it.
    """
    finished = run(["sh", "-c", "exit 7"], cwd="/", env=os.environ, timeout=30)
    if finished.ended == "exited" and finished.returncode == 7:
        return ""
    outcome = finished.why or (
        finished.ended if finished.ended != "exited" else f"exit code {finished.returncode}"
    )
    return (
        f"exit codes do not arrive on `{socket.gethostname()}`: `exit 7` gave {outcome}; start Ray there "
        f"without {_SUBREAPER_OPTION}"
    )


def run_command(
    program: Sequence[str], arguments: Sequence[str], request: bytes, grace: float
) -> Iterator[tuple[Any, ...]]:
    """Run `samuel ARGUMENTS`, or `PROGRAM ARGUMENTS`, on this node, and yield what comes of it.

    `grace` is how many seconds it has to end by itself when it is cancelled.
    """
    interrupted: list[int] = []
    command: ProcessConnection | None = None

    def interrupt(signum: int, frame: FrameType | None) -> None:
        interrupted.append(signum)
        if command is not None:
            command.cancel()

    with _own_interrupts(interrupt):
        if problem := exit_code_problem():
            yield (BROKEN, problem)
            return
        samuel = tuple(map(os.path.expanduser, program)) or (sys.executable, "-P", "-m", "samuel")
        process = start(
            [sys.executable, "-P", "-m", "samuel.places.ray_guard", str(grace), *samuel, *arguments],
            cwd=os.path.expanduser("~"),
            env=environment(os.environ),
        )
        command = ProcessConnection(process, request, _in_order, None, "the attempt", grace + _GUARD_SECONDS)
        if interrupted:
            command.cancel()
        try:
            yield (STARTED, socket.gethostname(), process.pid)
            for lines in command.batches():
                yield (LINES, lines)
        except PlaceLost:  # the guard did not end it in time: it is killed
            pass
        except PlaceBroken as error:
            raise ValueError(error.message) from None
        finally:
            command.close()
        yield (ENDED, process.returncode, command.stderr_tail)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of the node without what Ray adds: its token opens every machine of the cluster."""
    return {
        name: value for name, value in variables.items() if not name.startswith("RAY_") and name not in _OF_RAY
    }


def _in_order(code: int, stderr: str) -> None:
    """How the command ended is for the driver to judge."""


@contextmanager
def _own_interrupts(interrupt: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle a request to cancel in our way: no KeyboardInterrupt wherever Ray's own code is at that moment.

    A node that was started by `nohup ray start ... &` ignores SIGINT, and with it Ray's requests to cancel.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
