from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

import click

from samuel.cli.command_context import CommandContext
from samuel.cli.signals import END, handled_by
from samuel.process.guard import guarded

READ = 1 << 20

if TYPE_CHECKING:
    from samuel.loop.fleet.wire import Line


@click.command()
@click.pass_obj
def attempt(here: CommandContext) -> int:
    """Do one attempt at a task for a coordinator on another machine.

    `samuel run start --place ssh:HOST:SLOTS` starts this on HOST; people need not. It reads one request from its
    standard input and prints lines of JSON. When its input ends, it ends its agent and itself.

    \b
        ssh HOST samuel attempt < request.json
    """
    # Before anything else is imported: the guard stays as small as a process can be.
    return guarded(_attempt)


class LineWriter:
    """Standard output, one whole line at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.is_broken = False

    def __call__(self, line: Line) -> None:
        from samuel.loop.fleet.wire import line_of

        data = memoryview(line_of(line))
        with self._lock:
            try:
                while data and not self.is_broken:
                    data = data[os.write(1, data) :]
            except OSError:  # nobody listens: the end of the input says so too
                self.is_broken = True


def _attempt() -> int:
    """In a process of its own: the request, then lines, then the answer."""
    from samuel.app.machine_attempt import CancelSwitch, answer  # most of the package
    from samuel.loop.fleet.wire import HeartbeatLine, ReadyLine, ResultLine
    from samuel.process.tree import own_all_children

    own_all_children()
    cancel, send, is_over = CancelSwitch(), LineWriter(), threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        cancel.is_cancelled = True
        if not cancel.is_shielded:
            raise KeyboardInterrupt

    def beat() -> None:
        while not is_over.wait(cancel.heartbeat):
            send(HeartbeatLine())

    with handled_by(interrupt, signal.SIGINT, *END):
        try:
            request, rest = _request()
            if rest:
                return 130  # whatever follows a request cancels it
            threading.Thread(target=_watch_input, daemon=True).start()
            threading.Thread(target=beat, daemon=True).start()
            line = answer(request, send, cancel)
        except KeyboardInterrupt:
            return 130
        cancel.is_shielded = True
        is_over.set()
        send(line)
    return 0 if isinstance(line, ResultLine | ReadyLine) else 1


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
