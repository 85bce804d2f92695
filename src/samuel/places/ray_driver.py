"""The Ray driver: a process of its own that hands attempts to a Ray cluster and brings their lines back.

Ray ends the process that uses it when the cluster's head or the machine's own Ray goes away, prints to its streams
and starts threads that do not bear a fork. None of that may happen to the coordinator of a run. So the coordinator
does not import Ray: it starts this program and exchanges lines of JSON with it (`ray_messages`). When the driver
ends, for whatever reason, Ray ends the workers of its attempts, and their guards end the rest.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from samuel.base.decoding import decode_json
from samuel.places import ray_messages as messages
from samuel.places import ray_resources, ray_task
from samuel.places.place import PlaceBroken, PlaceLost
from samuel.places.ray_connect import connect, machines, node_affinity
from samuel.places.ray_messages import RayEnded
from samuel.places.ray_resources import RayMachine

_TICK = 0.25
_NOT_STARTED = (126, 127)  # not executable, not found
_NODE_LABEL = "ray.io/node-id"  # Ray gives it to each node
_NODE = "node"  # ("node", id of the node): the first thing that a task yields


def main() -> None:
    # Ray prints to stdout. Messages have a descriptor of their own that nothing else knows.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    settings = decode_json(sys.stdin.buffer.readline(), messages.RaySettings)
    outbox = _Outbox(output)
    try:
        ray, problems = connect(settings.address, settings.limits)
    except (PlaceBroken, PlaceLost) as error:
        outbox.send(messages.RayRefused(str(error), isinstance(error, PlaceLost)))
        os._exit(1)  # not `sys.exit`: Ray's threads may keep a process that could not connect
    driver = RayDriver(ray, problems, settings, outbox)
    threading.Thread(target=driver.read, args=(sys.stdin.buffer,), daemon=True).start()
    driver.watch()


class _Outbox:
    def __init__(self, output: Any) -> None:
        self._output = output
        self._lock = threading.Lock()

    def send(self, message: messages.FromDriver) -> None:
        with self._lock:
            rest = memoryview(msgspec.json.encode(message) + b"\n")
            while rest:
                rest = rest[self._output.write(rest) :]


class _Attempt:
    """A command that was handed to Ray."""

    def __init__(self, order: messages.RayStart, needed: dict[str, float], stream: Any) -> None:
        self.id = order.id
        self.order = order
        self.needed = needed
        self.stream = stream
        self.node = ""  # until it runs somewhere
        self.waited = 0.0  # seconds: for a machine, and then for a line
        self.has_printed = False
        self.cancelled = False


class RayDriver:
    """Follows each attempt in a thread, and watches the machines: Ray does not tell that one is frozen or gone."""

    def __init__(
        self, ray: Any, problems: Mapping[str, str], settings: messages.RaySettings, outbox: _Outbox
    ) -> None:
        """`problems` says of machines, by id, why they cannot run attempts."""
        self._ray = ray
        self._problems = problems
        self._program = settings.program
        self._limits: messages.RayLimits = settings.limits
        self._outbox = outbox
        self._task = ray.remote(num_cpus=0, max_retries=0, num_returns="streaming")(_attempt_on_node)
        self._attempts: dict[int, _Attempt] = {}
        self._lock = threading.Lock()
        self._machines: tuple[RayMachine, ...] = ()
        self._looks = 0  # how often the head has answered

    def read(self, orders: BinaryIO) -> None:
        """Carry out what the coordinator orders; end when the coordinator is gone."""
        for line in orders:
            order = decode_json(line, messages.ToDriver)
            if isinstance(order, messages.RayStart):
                self._start(order)
            elif isinstance(order, messages.RayCancel):
                self._cancel(order.id)
        os._exit(0)

    def watch(self) -> None:
        """Give up attempts that Ray would wait for without end; returns never."""
        threading.Thread(target=self._look, daemon=True).start()
        machines_before: tuple[RayMachine, ...] = ()
        looks_before = 0
        silent = 0.0
        last = time.monotonic()
        while True:
            time.sleep(_TICK)
            # A process that was stopped for a while has not waited for that long.
            passed = min(time.monotonic() - last, 4 * _TICK)
            last = time.monotonic()
            if self._looks != looks_before:
                looks_before, silent = self._looks, 0.0
            else:
                silent += passed
            if silent > self._limits.head:
                self._lose_everything(f"the head of the Ray cluster has not answered for {silent:.0f} s")
            if self._machines != machines_before:
                machines_before = self._machines
                self._outbox.send(messages.RayOffer(machines_before))
                self._check_nodes(machines_before)
            self._check_waiting(machines_before, passed)

    def _look(self) -> None:
        # In a thread of its own: without a head this call does not come back.
        while True:
            self._machines = machines(self._ray, self._problems)
            self._looks += 1
            time.sleep(self._limits.watch)

    def _start(self, order: messages.RayStart) -> None:
        present = self._machines
        needed = ray_resources.demand(order.resources, ray_resources.offer(present))
        if problem := self._missing(needed, order, present):
            self._outbox.send(RayEnded(order.id, "lost", problem))
            return
        stream = self._task.options(resources=needed, **self._where(order)).remote(
            self._program, order.arguments, order.request, self._limits.cancel
        )
        attempt = _Attempt(order, needed, stream)
        with self._lock:
            self._attempts[order.id] = attempt
        threading.Thread(target=self._follow, args=(attempt,), daemon=True).start()

    def _where(self, order: messages.RayStart) -> dict[str, Any]:
        """Ray's options that say which machines may run it."""
        if order.machine:
            return {"scheduling_strategy": node_affinity(order.machine)}
        if avoided := sorted({*order.avoided, *self._problems}):
            return {"label_selector": {_NODE_LABEL: f"!in({','.join(avoided)})"}}
        return {}

    def _missing(
        self, needed: Mapping[str, float], order: messages.RayStart, present: Sequence[RayMachine]
    ) -> str:
        return ray_resources.missing(needed, ray_resources.candidates(present, order.machine, order.avoided))

    def _cancel(self, id: int) -> None:
        with self._lock:
            attempt = self._attempts.get(id)
            if attempt is not None:
                attempt.cancelled = True
        if attempt is not None:
            # Never with `force`: that kills the worker's children first, and the task may even return a result.
            self._ray.cancel(attempt.stream, force=False)

    def _follow(self, attempt: _Attempt) -> None:
        errors = self._ray.exceptions
        ended = RayEnded(attempt.id, "broken", "the Ray driver failed; its error is in the log")
        try:
            ended = self._ended(attempt)
        except errors.TaskCancelledError:  # before RayTaskError: what Ray raises is both at once
            ended = RayEnded(attempt.id, "cancelled" if attempt.cancelled else "lost", "Ray cancelled the attempt")
        except errors.RayTaskError as error:
            ended = RayEnded(attempt.id, "broken", f"the attempt could not be run: {error.cause or error}")
        except errors.RayError as error:
            ended = RayEnded(attempt.id, "lost", _first_line(error))
        finally:
            self._finish(attempt, ended)

    def _ended(self, attempt: _Attempt) -> RayEnded:
        for kind, *values in map(self._ray.get, attempt.stream):
            if kind == _NODE:
                (attempt.node,), attempt.waited = values, 0.0
                self._outbox.send(messages.RayBegan(attempt.id, attempt.node))
            elif kind == ray_task.LINES:
                attempt.has_printed, attempt.waited = True, 0.0
                self._outbox.send(messages.RayLines(attempt.id, values[0]))
            elif kind == ray_task.BROKEN:
                return RayEnded(attempt.id, "broken", values[0])
            elif kind == ray_task.ENDED:
                return _how(attempt, *values)
        # Ray ends the stream of a task that it cancelled, or raises TaskCancelledError: both are seen.
        return RayEnded(attempt.id, "cancelled" if attempt.cancelled else "lost", "the attempt has no result")

    def _finish(self, attempt: _Attempt, ended: RayEnded) -> None:
        with self._lock:
            present = self._attempts.pop(attempt.id, None)
        if present is not None:
            self._outbox.send(ended)

    def _check_nodes(self, present: Sequence[RayMachine]) -> None:
        living = {machine.id for machine in present if machine.alive}
        names = {machine.id: machine.address for machine in present}
        for attempt in self._under_way():
            if attempt.node and attempt.node not in living:
                name = names.get(attempt.node, attempt.node)
                self._finish(
                    attempt, RayEnded(attempt.id, "lost", f"the machine `{name}` is dead or does not answer")
                )

    def _check_waiting(self, present: Sequence[RayMachine], passed: float) -> None:
        for attempt in self._under_way():
            attempt.waited += passed
            problem = self._silence(attempt) if attempt.node else self._no_room(attempt, present)
            if problem:
                self._finish(attempt, RayEnded(attempt.id, "lost", problem))
                self._ray.cancel(attempt.stream, force=False)

    def _silence(self, attempt: _Attempt) -> str:
        if not self._limits.silence or attempt.waited <= self._limits.silence:
            return ""
        return f"nothing was heard from the attempt for {attempt.waited:.0f} s"

    def _no_room(self, attempt: _Attempt, present: Sequence[RayMachine]) -> str:
        if problem := self._missing(attempt.needed, attempt.order, present):
            return problem
        if attempt.waited <= self._limits.queue:
            return ""
        names = ", ".join(f"`{name}`" for name in attempt.needed)
        return f"no machine of the Ray cluster had room for {names} within {attempt.waited:.0f} s"

    def _under_way(self) -> list[_Attempt]:
        with self._lock:
            return list(self._attempts.values())

    def _lose_everything(self, why: str) -> None:
        for attempt in self._under_way():
            self._finish(attempt, RayEnded(attempt.id, "lost", why))
        self._outbox.send(messages.RayRefused(why, lost=True))
        os._exit(1)


def _how(attempt: _Attempt, code: int, stderr: str) -> RayEnded:
    if attempt.cancelled:
        return RayEnded(attempt.id, "cancelled")
    if code < 0 or code > 128:
        return RayEnded(attempt.id, "lost", f"the attempt was killed (exit code {code})\n{stderr}".rstrip())
    if code in _NOT_STARTED or (code and not attempt.has_printed):
        return RayEnded(attempt.id, "broken", f"the attempt ended with exit code {code}\n{stderr}".rstrip())
    return RayEnded(attempt.id, "ended")  # what it printed says what came of it


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else 'no reason known'}"


def _attempt_on_node(
    program: Sequence[str], arguments: Sequence[str], request: bytes, grace: float
) -> Iterator[tuple[Any, ...]]:
    """Runs on a node."""
    from samuel.places.ray_task import run_command  # this function alone is sent to the node

    yield (_NODE, importlib.import_module("ray").get_runtime_context().get_node_id())
    yield from run_command(program, arguments, request, grace)


if __name__ == "__main__":
    main()
