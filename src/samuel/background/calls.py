"""The background calls of an opened project, as the process that fires the events sees them.

The handlers run below a supervisor process, so that this process can end without them, and so that they end with
it, however it ends, where they must. There are up to two supervisors: one for calls that end with the run, and one
for calls that go on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.background.wire import EndedCall, SupervisorSetup, ended_call, job_of, send
from samuel.base.decoding import json_decoder
from samuel.dispatch.background import BackgroundCall, make
from samuel.dispatch.handler_state import HandlerState
from samuel.dispatch.record import Sink
from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.process import spawn
from samuel.process.ledger import LEDGER
from samuel.process.reason import NotRunnable
from samuel.process.tree import end
from samuel.runtimes.base import Reply, Runtime
from samuel.runtimes.python import NEEDED, SAMUEL

# -P and appending to the path: neither the project's modules nor Samuel's may shadow others.
START = (
    "import sys; sys.path += sys.argv.pop(1), sys.argv.pop(1); "
    "from samuel.background.supervisor import main; main(int(sys.argv[1]))"
)
END_SECONDS = 15.0  # for a supervisor to kill its handlers and to record that

MOST_ENDED = 100  # failed calls that are kept for a caller to ask for; in a server none does

_decode_ended = json_decoder(EndedCall)


class BackgroundCalls:
    """Starts background handlers. Any number of threads may start them at once."""

    def __init__(
        self, setup: SupervisorSetup, outlives: Callable[[Event], bool], inline: Callable[[], Runtime], sink: Sink
    ) -> None:
        """`outlives` says for an event whether its calls go on when this process ends. A function of this process
        is called here, by the runtime `inline`, and `sink` records how that ended."""
        self._setup = setup
        self._outlives = outlives
        self._inline = inline
        self._sink = sink
        self._lock = threading.Lock()
        self._supervisors: dict[bool, Supervisor] = {}
        self._state = HandlerState(Path(setup.state), setup.trust_key)
        self._ended: deque[EndedCall] = deque(maxlen=MOST_ENDED)
        self._count = 0
        self._here: list[str] = []  # functions of this process that are at work

    def start(self, call: BackgroundCall) -> str:
        """Begin a call; "" or why it could not be begun."""
        if call.handler.function is not None:
            threading.Thread(target=self._call_here, args=(call,), daemon=True).start()
            return ""
        outlives = self._outlives(call.event)
        with self._lock:
            supervisor = self._supervisors.get(outlives)
            try:
                self._listen()  # so that a supervisor never has to wait until it is read
                if supervisor is None or not supervisor.is_alive():
                    if supervisor is not None:
                        self._end(supervisor)
                    setup = msgspec.structs.replace(self._setup, outlives=outlives)
                    supervisor = self._supervisors[outlives] = Supervisor(setup)
                self._count += 1
                supervisor.send(self._count, call)
            except (OSError, NotRunnable) as error:
                return f"its supervisor cannot be started: {error}"
        return ""

    def ended(self) -> list[EndedCall]:
        """The calls that did not end well since the last time this was asked."""
        with self._lock:
            self._listen()
            ended = list(self._ended)
            self._ended.clear()
        return ended

    def under_way(self) -> list[str]:
        """The names of the handlers that are at work."""
        with self._lock:
            self._listen()
            calls = (call for supervisor in self._supervisors.values() for call in supervisor.under_way)
            return [*self._here, *(call.handler.name for call in calls)]

    def _listen(self) -> None:
        ended = (call for supervisor in self._supervisors.values() for call in supervisor.ended())
        self._ended.extend(call for call in ended if call.outcome != Outcome.OK)

    def close(self) -> None:
        """Kill what must not go on, and leave the rest to its supervisor."""
        with self._lock:
            for supervisor in self._supervisors.values():
                self._end(supervisor)
            self._supervisors.clear()

    def _end(self, supervisor: Supervisor) -> None:
        """End a supervisor. What it could not record, because it was killed, is recorded here."""
        for call in supervisor.close():
            reply = Reply(Outcome.CRASHED, message="the process that ran it was killed")
            self._sink.called(call.event, call.ended(reply, 0.0))

    def _call_here(self, call: BackgroundCall) -> None:
        """Call a function of this process, which cannot be killed: it must end by itself."""
        began = time.perf_counter()
        self._here.append(call.handler.name)
        try:
            reply = make(call, self._run_here, self._state)
        finally:
            self._here.remove(call.handler.name)
        ended = call.ended(reply, (time.perf_counter() - began) * 1000)
        self._sink.called(call.event, ended)
        if ended.outcome is not Outcome.OK:
            with self._lock:
                self._ended.append(ended_call(0, ended))

    def _run_here(self, handler: Handler, event: Event, timeout: float) -> Reply:
        began = time.perf_counter()
        reply = self._inline().call(handler, event, timeout)
        seconds = time.perf_counter() - began
        if reply.outcome is Outcome.OK and seconds > timeout:
            why = f"took {seconds:.1f}s of {timeout:g}s; a function of this process cannot be killed"
            reply = msgspec.structs.replace(reply, outcome=Outcome.TIMED_OUT, result={}, message=why)
        return reply


class Supervisor:
    """A process that makes background calls."""

    def __init__(self, setup: SupervisorSetup) -> None:
        """Start it. Raises OSError and NotRunnable."""
        self._outlives = setup.outlives
        self._connection, theirs = socket.socketpair()
        self._received = b""
        self._numbered: dict[int, BackgroundCall] = {}
        try:
            self._process = self._start(theirs, setup.root)
            send(self._connection, setup)
        except BaseException:
            self._connection.close()
            raise
        finally:
            theirs.close()

    def _start(self, connection: socket.socket, root: str) -> subprocess.Popen[bytes]:
        fd = connection.fileno()
        argv = [sys.executable, "-P", "-c", START, SAMUEL, NEEDED, str(fd)]
        null = spawn.DEVNULL  # a reader of this process's output must not wait for the supervisor
        process = spawn.start(argv, cwd=root, env=os.environ, stdin=null, stdout=null, stderr=null, pass_fds=(fd,))
        LEDGER.spare(process.pid)
        return process

    @property
    def under_way(self) -> list[BackgroundCall]:
        """The calls whose end was not heard of."""
        return list(self._numbered.values())

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, number: int, call: BackgroundCall) -> None:
        send(self._connection, job_of(number, call))
        self._numbered[number] = call

    def ended(self) -> list[EndedCall]:
        """The calls that have ended since the last time."""
        with suppress(OSError):  # nothing there, or it is gone
            while data := self._connection.recv(1 << 16, socket.MSG_DONTWAIT):
                self._received += data
        *lines, self._received = self._received.split(b"\n")
        ended = [_decode_ended(line) for line in lines]
        for call in ended:
            self._numbered.pop(call.number, None)
        return ended

    def close(self) -> list[BackgroundCall]:
        """Let it end: at once where its calls must not go on, otherwise when they have ended.

        The calls that were not recorded, since it was killed.
        """
        if self._outlives and self.is_alive():
            self._connection.close()
            threading.Thread(target=self._reap, daemon=True).start()
            return []
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self.ended()
        self._connection.close()
        end(self._process)  # also what a supervisor that was killed has left
        return self.under_way

    def _reap(self) -> None:
        self._process.wait()
        LEDGER.forget(self._process.pid)
