from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import click

from samuel.cli.command_context import CommandContext
from samuel.cli.signals import END, handled_by
from samuel.process.guard import guarded
from samuel.workspaces.fleet.cancel import CancelSwitch

READ = 1 << 20
HEARTBEAT = b'{"line":"heartbeat"}\n'  # as `wire.HeartbeatLine`, which takes long to import
CANCELLED = b'{"line":"cancelled"}\n'  # as `wire.CancelledLine`
INPUT_ENDED = (
    "error: cancelled: standard input ended before the answer, or had more than one line\n"
    "keep it open until the answer is printed, or redirect it from a file\n"
)


@click.command()
@click.pass_obj
def attempt(here: CommandContext) -> int:
    """Do one attempt at a task for a coordinator on another machine.

    `samuel run start --place ssh:HOST:SLOTS` starts this on HOST; people need not. It reads one request from its
    standard input, one line of JSON, and prints lines of JSON, the last of which is the answer. When its input
    ends, the answer is not wanted any more: it ends its agent and itself, with exit code 130. A request that is
    redirected from a file is done to its end; Ctrl-C ends it.

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
            except OSError:  # the reader is gone: the end of the input says so too
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
            code, line = _answer_while_awaited(send, cancel, beat)
        except KeyboardInterrupt:
            code, line = 130, CANCELLED
        cancel.is_shielded = True
        is_over.set()
        send(line)
    return code


def _answer_while_awaited(send: LineWriter, cancel: CancelSwitch, beat: Callable[[], None]) -> tuple[int, bytes]:
    """Read the request and do it, while it is wanted; the exit code, and the last line."""
    request, is_whole, rest = _request()
    is_file = stat.S_ISREG(os.fstat(0).st_mode)  # its end says nothing about who waits
    if rest.strip() or (request and not is_whole and not is_file):
        _print_why()
        raise KeyboardInterrupt
    if is_whole and not is_file:
        threading.Thread(target=_watch_input, daemon=True).start()
    threading.Thread(target=beat, daemon=True).start()
    return _answer(request, send, cancel)


def _answer(request: bytes, send: LineWriter, cancel: CancelSwitch) -> tuple[int, bytes]:
    """Do what is asked for; the exit code, and the last line."""
    from samuel.machines.machine_attempt import answer  # most of the package: the machine is heard of before
    from samuel.process.tree import own_all_children
    from samuel.workspaces.fleet.wire import CancelledLine, InventoryLine, ReadyLine, ResultLine, line_of

    own_all_children()
    line = answer(request, lambda line: send(line_of(line)), cancel)
    if isinstance(line, CancelledLine):
        return 130, CANCELLED
    return 0 if isinstance(line, ResultLine | ReadyLine | InventoryLine) else 1, line_of(line)


def _request() -> tuple[bytes, bool, bytes]:
    """The first line of the input, whether it is whole, and what came after it."""
    data = bytearray()
    while b"\n" not in data[-READ:] and (chunk := os.read(0, READ)):
        data += chunk
    line, line_break, rest = data.partition(b"\n")
    return bytes(line), bool(line_break), bytes(rest)


def _watch_input() -> None:
    """Interrupt this process when its input ends, or says anything: then its answer is not wanted any more."""
    with suppress(OSError):
        os.read(0, READ)
    _print_why()
    os.kill(os.getpid(), signal.SIGINT)


def _print_why() -> None:
    with suppress(OSError):
        os.write(2, INPUT_ENDED.encode())
