"""A Ray cluster as a place: `ray:auto` or `ray:HOST:PORT`, with as many slots as it offers of `agent`.

Ray itself runs in the driver, a process of its own (`ray_driver` says why).
"""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from samuel.base.decoding import json_decoder
from samuel.config.model import FleetSettings
from samuel.places import ray_messages as messages
from samuel.places import ray_resources
from samuel.places.cluster import ClusterMachine
from samuel.places.place import PlaceBroken, PlaceCommand, PlaceLost
from samuel.places.ray_resources import AGENT, RayMachine
from samuel.process.spawn import start
from samuel.process.tree import end

_STDERR_KEPT = 4096
_POLL = 1.0
_AFTER_CANCEL = 30.0  # seconds, on top of what a cancelled attempt has, for the machine to say that it has ended
_START_WITHIN = 30.0  # seconds for the driver to start, on top of the limit for the cluster


def open_ray_place(address: str, program: str, silence: float) -> RayPlace:
    """The cluster at this address, whose machines have Samuel where `[fleet]` of samuel.toml says.

    The Python that Ray runs in has it, too, so the usual name stands for that one: it is not always on PATH.
    """
    limits = messages.RayLimits(head=silence, silence=silence)
    return RayPlace(address, limits, program=() if program == FleetSettings().program else (program,))


class RayPlace:
    """One cluster. The constructor connects; what went wrong is the answer of `problem`."""

    def __init__(
        self, address: str = "auto", limits: messages.RayLimits | None = None, *, program: Sequence[str] = ()
    ) -> None:
        """`program` is started on the machines in place of their own `samuel`."""
        self.name = f"ray:{address}"
        self.slots = 0
        self._settings = messages.RaySettings(address, limits or messages.RayLimits(), tuple(program))
        self._lock = threading.Lock()
        self._driver: _DriverProcess | None = None
        self._connect()

    def start(self, command: PlaceCommand) -> RayConnection:
        driver = self._connect()
        needed = ray_resources.demand(command.choice.resources, ray_resources.offer(driver.machines))
        usable = ray_resources.candidates(driver.machines, command.choice.machine, command.choice.avoided)
        if driver.refused is None and (problem := ray_resources.missing(needed, usable)):
            raise PlaceLost(problem, _what_to_declare(needed))
        return driver.run(command)

    def problem(self) -> str:
        driver = self._connect()
        if driver.refused is not None:
            return driver.refused.why
        if self.slots:
            return ""
        if problems := [f"`{machine.name}`: {machine.problem}" for machine in self.machines() if machine.problem]:
            return f"`{self.name}` has no machine that can run attempts:\n" + "\n".join(problems)
        return f"no machine of `{self.name}` offers `{AGENT}`\n{_what_to_declare({AGENT: 1})}"

    def machines(self) -> Sequence[ClusterMachine]:
        driver = self._driver
        return [
            ClusterMachine(machine.id, machine.address, machine.slots, machine.problem)
            for machine in (driver.machines if driver is not None else ())
            if machine.slots or (machine.alive and machine.problem)
        ]

    def close(self) -> None:
        with self._lock:
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()
        self.slots = 0

    def _connect(self) -> _DriverProcess:
        """The driver; a new one if there is none, or if the last one lost the cluster."""
        with self._lock:
            if self._driver is None or (self._driver.refused is not None and self._driver.refused.lost):
                if self._driver is not None:
                    self._driver.close()
                self._driver = _DriverProcess(self._settings, self._set_slots)
                self._driver.wait_until_ready()
            return self._driver

    def _set_slots(self, machines: Sequence[RayMachine]) -> None:
        self.slots = sum(machine.slots for machine in machines)


def _what_to_declare(needed: Mapping[str, float]) -> str:
    names = ", ".join(f'"{name}": {max(1, round(amount))}' for name, amount in needed.items())
    return f"start Ray on a machine that has it with `ray start ... --resources='{{{names}}}'`"


class RayConnection:
    """A command under way in the cluster."""

    def __init__(self, id: int, driver: _DriverProcess) -> None:
        self._id = id
        self._driver = driver
        self._cancelled = False
        self.machine = ""
        self.received: queue.SimpleQueue[messages.RayLines | messages.RayEnded] = queue.SimpleQueue()
        self.over = threading.Event()

    def lines(self) -> Iterator[bytes]:
        while isinstance(message := self._next(), messages.RayLines):
            yield from message.lines
        self.received.put(message)  # for the next caller
        if message.how == "lost":
            raise PlaceLost(message.why)
        if message.how == "broken":
            raise PlaceBroken(message.why)

    def cancel(self) -> None:
        if not self.over.is_set():
            self._cancelled = True
            self._driver.send(messages.RayCancel(self._id))

    def _next(self) -> messages.RayLines | messages.RayEnded:
        waited = 0.0
        while True:
            try:
                return self.received.get(timeout=_POLL)
            except queue.Empty:
                waited += _POLL if self._cancelled else 0.0
            if waited > self._driver.cancel_limit:
                return messages.RayEnded(
                    self._id, "lost", f"the attempt did not end within {waited:.0f} s after it was cancelled"
                )


class _DriverProcess:
    """The driver's process, and a thread that reads what it sends."""

    def __init__(
        self, settings: messages.RaySettings, on_machines: Callable[[Sequence[RayMachine]], None]
    ) -> None:
        self._settings = settings
        self._on_machines = on_machines
        self.cancel_limit = settings.limits.cancel + _AFTER_CANCEL
        self.machines: tuple[RayMachine, ...] = ()
        self.refused: messages.RayRefused | None = None
        self._ids = itertools.count(1)
        self._connections: dict[int, RayConnection] = {}
        self._lock = threading.Lock()  # of the connections and `refused`
        self._sending = threading.Lock()
        self._ready = threading.Event()
        self._stderr = bytearray()
        self._process: subprocess.Popen[bytes] = start(
            [sys.executable, "-P", "-m", "samuel.places.ray_driver"], cwd="/", env=os.environ
        )
        self.send(settings)
        self._readers = [
            threading.Thread(target=self._read, name=f"ray {settings.address}", daemon=True),
            threading.Thread(target=self._read_stderr, name=f"ray {settings.address} stderr", daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def wait_until_ready(self) -> None:
        if not self._ready.wait(self._settings.limits.connect + _START_WITHIN):
            self._fail(messages.RayRefused(f"`ray:{self._settings.address}` did not answer in time", lost=True))
            self._process.kill()

    def run(self, command: PlaceCommand) -> RayConnection:
        with self._lock:
            if self.refused is not None:
                raise (PlaceLost if self.refused.lost else PlaceBroken)(self.refused.why)
            connection = RayConnection(next(self._ids), self)
            self._connections[connection._id] = connection
        choice = command.choice
        order = connection._id, tuple(command.arguments), bytes(command.request), dict(choice.resources)
        self.send(messages.RayStart(*order, choice.machine, tuple(choice.avoided)))
        return connection

    def send(self, message: messages.ToDriver | messages.RaySettings) -> None:
        assert self._process.stdin is not None
        # A driver that is gone is noticed by the reader.
        with self._sending, suppress(OSError, ValueError):
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            self._process.stdin.flush()

    def close(self) -> None:
        with self._lock:
            connections = list(self._connections.values())
        for connection in connections:
            connection.cancel()
        until = time.monotonic() + self.cancel_limit
        for connection in connections:
            connection.over.wait(max(0.0, until - time.monotonic()))
        with self._sending, suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        end(self._process, grace=1.0)
        for reader in self._readers:
            reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        decode = json_decoder(messages.FromDriver)
        with self._process.stdout as lines:
            for line in lines:
                self._take(decode(line))
        self._readers[1].join(1.0)
        last = bytes(self._stderr).decode(errors="replace").strip().splitlines()[-3:]
        self._fail(
            messages.RayRefused(
                "\n".join([f"the Ray driver of `ray:{self._settings.address}` ended", *last]), lost=True
            )
        )

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as errors:
            while chunk := os.read(errors.fileno(), 65536):
                self._stderr = (self._stderr + chunk)[-_STDERR_KEPT:]

    def _take(self, message: messages.FromDriver) -> None:
        if isinstance(message, messages.RayOffer):
            self.machines = message.machines
            self._on_machines(message.machines)
            self._ready.set()
        elif isinstance(message, messages.RayRefused):
            self._fail(message)
        else:
            with self._lock:
                connection = self._connections.get(message.id)
                if isinstance(message, messages.RayEnded):
                    self._connections.pop(message.id, None)
            if connection is None:
                return
            if isinstance(message, messages.RayBegan):
                connection.machine = message.machine
            else:
                connection.received.put(message)
                if isinstance(message, messages.RayEnded):
                    connection.over.set()

    def _fail(self, refused: messages.RayRefused) -> None:
        """The cluster cannot be used, or not any more: whatever is under way there is lost."""
        with self._lock:
            self.refused = self.refused or refused
            connections = list(self._connections.values())
            self._connections.clear()
        self._on_machines(())
        for connection in connections:
            connection.received.put(messages.RayEnded(connection._id, "lost", self.refused.why))
            connection.over.set()
        self._ready.set()
