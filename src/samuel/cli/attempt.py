from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from types import FrameType

import click

from samuel.cli.command_context import CommandContext
from samuel.cli.signals import END, handled_by
from samuel.loop.fleet.cancel import CancelSwitch
from samuel.process.guard import guarded

READ = 1 << 20
HEARTBEAT = b'{"line":"heartbeat"}\n'  # as `wire.HeartbeatLine`, which takes long to import


@click.command()
@click.pass_obj
def attempt(here: CommandContext) -> int:
    """Do one attempt at a task for a coordinator on another machine.

    `samuel run start --place ssh:HOST:SLOTS` starts this on HOST; people need not. It reads one request from its
    standard input and prints lines of JSON. When its input ends, it ends its agent and itself.

    \b
        samuel attempt < request.json
    """
    # Before anything else is imported: the guard stays as small as a process can be.
    return guarded(_attempt)


class LineWriter:
    """Standard output, one whole line at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.is_broken = False

    def __call__(self, line: bytes) -> None:
        data = memoryview(line)
        with self._lock:
            try:
                while data and not self.is_broken:
                    data = data[os.write(1, data) :]
            except OSError:  # nobody listens: the end of the input says so too
                self.is_broken = True


def _attempt() -> int:
    """In a process of its own: the request, then lines, then the answer."""
    cancel, send, is_over = CancelSwitch(), LineWriter(), threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        cancel.is_cancelled = True
        if not cancel.is_shielded:
            raise KeyboardInterrupt

    def beat() -> None:
        while not is_over.wait(cancel.heartbeat):
            send(HEARTBEAT)

    with handled_by(interrupt, signal.SIGINT, *END):
        try:
            request, rest = _request()
            if rest:
                return 130  # whatever follows a request cancels it
            threading.Thread(target=_watch_input, daemon=True).start()
            threading.Thread(target=beat, daemon=True).start()
            code, line = _answer(request, send, cancel)
        except KeyboardInterrupt:
            return 130
        cancel.is_shielded = True
        is_over.set()
        send(line)
    return code


def _answer(request: bytes, send: LineWriter, cancel: CancelSwitch) -> tuple[int, bytes]:
    """Do what is asked for; the exit code, and the last line."""
    from samuel.app.machine_attempt import answer  # most of the package: the machine is heard of before
    from samuel.loop.fleet.wire import ReadyLine, ResultLine, line_of
    from samuel.process.tree import own_all_children

    own_all_children()
    line = answer(request, lambda line: send(line_of(line)), cancel)
    return 0 if isinstance(line, ResultLine | ReadyLine) else 1, line_of(line)


def _request() -> tuple[bytes, bytes]:
    """The first line of the input, and what came after it."""
    data = bytearray()
    while b"\n" not in data[-READ:] and (chunk := os.read(0, READ)):
        data += chunk
    line, _, rest = data.partition(b"\n")
    return bytes(line), bytes(rest)


def _watch_input() -> None:
    """Interrupt this process when its input ends, or says anything: then nobody waits for it any more."""
    with suppress(OSError):
        os.read(0, READ)
    os.kill(os.getpid(), signal.SIGINT)
