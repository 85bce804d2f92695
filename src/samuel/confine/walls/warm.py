"""A launcher within the walls of a plugin, which starts the plugin's programs one after another.

Making the walls for each call takes ten times as long as the program itself. The walls stay, and `warm_launcher`
starts each program in them: a new process, with its own environment, in namespaces in which no earlier call left
anything. What it can write that lasts is what it was granted.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from samuel.confine.walls.walls import WalledCommand
from samuel.process.ledger import LEDGER, MARK
from samuel.process.pump import STDERR_KEPT, Pump, Stopped
from samuel.process.reason import NotRunnable, why_not
from samuel.process.spawn import GRACE, Finished, start
from samuel.process.tree import end

_READY_WITHIN = 20.0  # seconds
_GONE_WITHIN = 1.0  # seconds after SIGKILL; then the whole launcher is ended from outside
_CODE = 4  # bytes of an exit code
_KILLED = 128 + 9


@cache
def command() -> tuple[str, ...]:
    """The launcher's program and arguments; those that differ for each launcher follow.

    The interpreter itself, not that of a virtual environment around it: it needs no installed package.
    """
    text = Path(__file__).with_name("warm_launcher.py").read_text()
    return (os.path.realpath(sys.executable), "-I", "-S", "-c", text)


class LauncherGone(Exception):
    """The launcher had ended before the program was started."""


class _Ending(NamedTuple):
    code: int
    complete: bool  # nothing of the call is left


class Launcher:
    """One launcher. It runs one program at a time."""

    def __init__(self, command: WalledCommand, ours: socket.socket, theirs: socket.socket, cwd: str) -> None:
        """Start it, with the sockets by which it is controlled. The command names `theirs`. Raises NotRunnable."""
        self._release: Callable[[], None] = command.release
        self._control = ours
        self._cwd = cwd
        self._process = start(
            command.argv,
            cwd=cwd,
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(*command.pass_fds, theirs.fileno()),
        )
        theirs.close()  # so that its end is noticed
        self.over = False
        try:
            ours.settimeout(_READY_WITHIN)
            ready = ours.recv(1)
        except OSError:
            ready = b""
        except BaseException:
            self.close()
            raise
        if not ready:
            self.close()
            raise NotRunnable("no launcher can be started within the walls here")

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: bytes,
        timeout: float,
        output_limit: int,
        grace: float = GRACE,
    ) -> Finished:
        """Run a program within the walls, as `spawn.run` does. Raises LauncherGone if it was not started."""
        started = time.perf_counter()
        try:
            pump = Pump(stdin, output_limit)
            here, there = socket.socketpair()
        except OSError as error:
            return Finished("not_started", 0, b"", b"", 0.0, why_not(error, argv, self._cwd, env))
        try:
            with there:
                self._send(argv, {**env, MARK: LEDGER.new_mark(), "PWD": self._cwd}, (*pump.ends, there.fileno()))
            pump.started_behind(os.dup(here.fileno()))
            ended = pump.run(started + timeout)
            ending = _finish(here, pump, ended, grace)
            if not ending.complete:
                self.close()
            pump.drain()
        except BaseException:
            self.close()
            raise
        finally:
            here.close()
            pump.close()
        lasted = time.perf_counter() - started
        return Finished(ended, ending.code, bytes(pump.stdout), bytes(pump.stderr[-STDERR_KEPT:]), lasted)

    @property
    def stale(self) -> bool:
        """Whether it died between calls: it says nothing there."""
        self._control.setblocking(False)
        try:
            self._control.recv(1)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def close(self) -> None:
        """End it and everything that it started."""
        if self.over:
            return
        self.over = True
        self._control.close()
        end(self._process)
        self._release()

    def _send(self, argv: Sequence[str], env: Mapping[str, str], fds: Sequence[int]) -> None:
        text = json.dumps((list(argv), env)).encode()
        data = len(text).to_bytes(4, "little") + text
        try:
            self._control.settimeout(_GONE_WITHIN)
            done = socket.send_fds(self._control, [data], list(fds))
            if done < len(data):
                self._control.sendall(data[done:])
        except OSError as error:
            raise LauncherGone from error


def _finish(call: socket.socket, pump: Pump, ended: Stopped, grace: float) -> _Ending:
    """Let the processes of a call end, or end them; how the program ended."""
    answer = bytearray()
    if ended == "timed_out":
        until = time.perf_counter() + grace
        with suppress(OSError):  # it is gone
            call.send(b"T")
        pump.run(until)  # it may want to say something while it cleans up
        _receive(call, answer, until)
    elif ended == "exited":
        _receive(call, answer, time.perf_counter())
    if len(answer) <= _CODE:
        with suppress(OSError):
            call.shutdown(socket.SHUT_WR)  # kills what is left
        _receive(call, answer, time.perf_counter() + _GONE_WITHIN)
    if len(answer) < _CODE:
        return _Ending(_KILLED, complete=False)
    return _Ending(int.from_bytes(answer[:_CODE], "little"), complete=len(answer) > _CODE)


def _receive(call: socket.socket, answer: bytearray, until: float) -> None:
    """Read until all of the answer is there, until its end, or until then (`time.perf_counter`)."""
    while len(answer) <= _CODE:
        call.settimeout(max(until - time.perf_counter(), 0.0))
        try:
            chunk = call.recv(_CODE + 1 - len(answer))
        except OSError:  # not yet, or it is gone
            return
        if not chunk:
            return
        answer += chunk
