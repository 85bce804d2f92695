"""What runs on a node of a Ray cluster: one `samuel` command below a guard, and its lines.

This module does not import Ray. It runs in one of Ray's workers, which serves other attempts later, so that
whatever it changes in the process is put back.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from samuel.process.spawn import run, start
from samuel.process.tree import end

POLL = 0.05
"""Seconds between two looks at whether the attempt was cancelled: Ray cannot interrupt a call that blocks."""

LINE_LIMIT = 16 * 1024 * 1024
STDERR_KEPT = 4096
_CHUNK = 64 * 1024
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
    with _own_interrupts(interrupted):
        if problem := exit_code_problem():
            yield (BROKEN, problem)
            return
        samuel = tuple(map(os.path.expanduser, program)) or (sys.executable, "-P", "-m", "samuel")
        process = start(
            [sys.executable, "-P", "-m", "samuel.places.ray_guard", str(grace), *samuel, *arguments],
            cwd=os.path.expanduser("~"),
            env=environment(os.environ),
        )
        streams = _Streams(process, request, grace)
        try:
            yield (STARTED, socket.gethostname(), process.pid)
            while streams.step():
                if lines := streams.lines():
                    yield (LINES, lines)
                if interrupted:
                    streams.close_stdin()
            if lines := streams.lines(last=True):
                yield (LINES, lines)
        finally:
            end(process)
            streams.close()
        yield (ENDED, process.returncode, streams.stderr.decode(errors="replace"))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of the node without what Ray adds: its token opens every machine of the cluster."""
    return {
        name: value for name, value in variables.items() if not name.startswith("RAY_") and name not in _OF_RAY
    }


@contextmanager
def _own_interrupts(interrupted: list[int]) -> Iterator[None]:
    """Note a request to cancel instead of raising KeyboardInterrupt, wherever Ray's own code is at that moment.

    A node that was started by `nohup ray start ... &` ignores SIGINT, and with it Ray's requests to cancel.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda signum, _: interrupted.append(signum))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


class _Streams:
    """The three pipes of the guard, none of which ever blocks."""

    def __init__(self, process: subprocess.Popen[bytes], request: bytes, grace: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._request = memoryview(request)
        self._readable = {self._stdout.fileno(), self._stderr.fileno()}
        self._output = bytearray()
        self._until = 0.0
        self._grace = grace
        self.stderr = bytearray()
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)

    def step(self) -> bool:
        """Wait for something to happen, for a moment; False when the command has ended."""
        if self._process.poll() is not None:
            while self._read_all():
                pass
            return False
        poll = select.poll()
        for fd in self._readable:
            poll.register(fd, select.POLLIN)
        if self._request and not self._stdin.closed:
            poll.register(self._stdin, select.POLLOUT)
        if poll.poll(POLL * 1000):
            self._write()
            self._read_all()
        return not self._until or time.monotonic() < self._until

    def lines(self, last: bool = False) -> list[bytes]:
        """The lines that are complete by now; with `last` also what follows the last line break."""
        whole, line_break, rest = bytes(self._output).rpartition(b"\n")
        if last and rest:
            whole, line_break, rest = bytes(self._output), b"\n", b""
        self._output = bytearray(rest)
        return whole.split(b"\n") if line_break else []

    def close_stdin(self) -> None:
        """Ask the command to end. The guard kills what does not."""
        if not self._stdin.closed:
            self._stdin.close()
            self._until = time.monotonic() + self._grace + 10

    def close(self) -> None:
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def _write(self) -> None:
        if not self._request or self._stdin.closed:
            return
        try:
            self._request = self._request[os.write(self._stdin.fileno(), self._request) :]
        except BlockingIOError:
            pass
        except OSError:  # it reads no more
            self._request = memoryview(b"")

    def _read_all(self) -> bool:
        """One chunk of each stream; False when there was none."""
        got = False
        for fd in tuple(self._readable):
            try:
                chunk = os.read(fd, _CHUNK)
            except BlockingIOError:
                continue
            if not chunk:
                self._readable.discard(fd)
            elif fd == self._stdout.fileno():
                self._output += chunk
                got = True
            else:
                self.stderr = (self.stderr + chunk)[-STDERR_KEPT:]
                got = True
        if len(self._output) > LINE_LIMIT:
            raise ValueError(f"a line of the command is longer than {LINE_LIMIT} bytes")
        return got
