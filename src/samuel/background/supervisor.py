"""The supervisor: a process that makes background calls, records them, and leaves nothing of them behind.

It reads calls until its socket is closed: the process that sent them has ended, perhaps by a kill. Then it kills
what must not go on, or waits for what may; each call has its own deadline.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

import msgspec

from samuel.background.wire import SupervisorSetup, decode_job, decode_setup, ended_call, receive
from samuel.base.clock import SystemClock
from samuel.config.model import Limits
from samuel.dispatch.background import BackgroundCall, make
from samuel.dispatch.handler_state import HandlerState
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.journal import Journal
from samuel.journal.hooks_log import HooksLog
from samuel.process.tree import Tree, kill_all, own_all_children
from samuel.runtimes.base import Reply, Setting
from samuel.runtimes.table import Runtimes
from samuel.trust.permit import CHANGED, Permit

CLEAN_UP_SECONDS = 10.0  # for what was killed to end (a container takes a while), and to be recorded
CHANGED_BEFORE = "its files changed after it was permitted and before it could be called"
LEFT = "killed: the run that it belonged to has ended"


def main(fd: int) -> None:
    """Serve the socket with this descriptor to its end."""
    connection = socket.socket(fileno=fd)
    connection.set_inheritable(False)
    own_all_children()
    setup = receive(connection)
    if setup is None:
        return
    calls = SupervisedCalls(decode_setup(setup), connection)
    signal.signal(signal.SIGTERM, calls.terminate)
    while (message := receive(connection)) is not None:
        job = decode_job(message)
        calls.start(job.number, job.call())
    calls.finish()


class SupervisedCalls:
    """The calls of one project, each in a thread of its own."""

    def __init__(self, setup: SupervisorSetup, connection: socket.socket) -> None:
        self._outlives = setup.outlives
        self._connection = connection
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._under_way: dict[int, tuple[BackgroundCall, float]] = {}  # by the number of the job
        self._ending = False
        root, clock = Path(setup.root), SystemClock()
        self._state = HandlerState(Path(setup.state), setup.trust_key)
        self._journal = Journal(root, Path(setup.journal), clock, _ignore, setup.parent_id)
        self._hooks_log = HooksLog(root, clock, _ignore)
        # Who may run was decided where the event was fired; here only that nothing has changed since.
        self._stamp = Permit(root, dict, everything=setup.trusts_everything).stamp
        limits = Limits(**setup.limits)
        self._runtimes = Runtimes(Setting(root, setup.environment, Path(setup.cache), limits, clock, os.environ))

    def start(self, number: int, call: BackgroundCall) -> None:
        with self._lock:
            self._under_way[number] = call, time.perf_counter()
        threading.Thread(target=self._make, args=(number, call), daemon=True).start()

    def finish(self) -> None:
        """End: when all calls have, or at once if they must not go on."""
        while self._outlives and self._is_busy():
            time.sleep(0.02)
        self._end()

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """This process was asked to end: `finish` follows, at once.

        Nothing else is done here: a signal may come while its thread holds any of the locks.
        """
        self._outlives = False
        with suppress(OSError):  # it may be gone
            self._connection.shutdown(socket.SHUT_RD)

    def _end(self) -> None:
        self._ending = True
        until = time.perf_counter() + CLEAN_UP_SECONDS
        while self._has_processes() and time.perf_counter() < until:
            kill_all()  # again: a call may have been about to start its process
            time.sleep(0.01)
        with self._lock:
            left, self._under_way = self._under_way, {}
        # What is left: modules, and processes that sit in the kernel.
        for number, (call, began) in left.items():
            self._record(number, call, Reply(Outcome.TIMED_OUT, message=LEFT), began)
        self._runtimes.close()
        self._journal.close()
        with Tree():  # whatever they left
            pass
        os._exit(0)  # without waiting for threads

    def _is_busy(self) -> bool:
        with self._lock:
            return bool(self._under_way)

    def _has_processes(self) -> bool:
        with self._lock:
            return any(call.handler.runtime != "wasm" for call, _ in self._under_way.values())

    def _make(self, number: int, call: BackgroundCall) -> None:
        began = time.perf_counter()
        try:
            reply = self._reply(call)
        except Exception as error:  # noqa: BLE001  a fault of a runtime must not cost the record of the call
            reply = Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}")
        if self._ending and reply.outcome is not Outcome.OK:
            reply = Reply(Outcome.TIMED_OUT, message=LEFT, stderr=reply.stderr)
        with self._lock:
            if number not in self._under_way:
                return  # recorded already, as one that was left
        self._record(number, call, reply, began)
        with self._lock:
            self._under_way.pop(number, None)

    def _reply(self, call: BackgroundCall) -> Reply:
        runtime = self._runtimes.get(call.handler.runtime)
        if runtime is None:
            return Reply(Outcome.NOT_STARTED, message=f"no runtime `{call.handler.runtime}` on this machine")

        def run(handler: Handler, event: Event, timeout: float) -> Reply:
            if repr(self._stamp(handler)) != call.stamp:
                return Reply(Outcome.REFUSED, message=CHANGED_BEFORE)
            reply = runtime.call(handler, event, timeout, call.content)
            if not reply.changed and repr(self._stamp(handler)) != call.stamp:
                return Reply(Outcome.REFUSED, message=CHANGED, stderr=reply.stderr)
            return reply

        return make(call, run, self._state)

    def _record(self, number: int, call: BackgroundCall, reply: Reply, began: float) -> None:
        """Record how a call ended, and tell the process that sent it."""
        duration_ms = (time.perf_counter() - began) * 1000
        ended = call.ended(reply, duration_ms)
        self._journal.called(call.event, ended)
        self._hooks_log.end(call.event, _only(call, ended), duration_ms)
        with suppress(OSError), self._telling:  # it may be gone
            self._connection.sendall(msgspec.json.encode(ended_call(number, ended)) + b"\n")


def _only(call: BackgroundCall, ended: HandlerCall) -> Fired:
    """The event as one of which only this call is to be logged."""
    return Fired(event=call.event, ok=True, stopped=False, result={}, calls=(ended,))


def _ignore(warning: str) -> None:
    """What this process prints is not read; the journal is written as far as possible."""
