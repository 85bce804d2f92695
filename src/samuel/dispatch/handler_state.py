"""What the dispatcher keeps about handlers in the user's state directory, for all processes of the user."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from samuel.base.errors import Locked, UnsafePath
from samuel.events import Event
from samuel.files.lock import held
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.base import Reply


class HandlerState:
    """The locks of handlers that run one at a time, and which handlers once denied an event."""

    def __init__(self, directory: Path, project: str) -> None:
        """`directory` is the user's state directory, `project` the name of the project there."""
        self._directory = directory
        self._project = project
        self._denials: set[str] = set()  # those that are known to be stored

    def serial_lock(self, handler: Handler) -> Path:
        """The lock of a handler that never runs in two lanes at once; its directory exists."""
        lock = self._directory / "serial" / self._project / f"{_name(handler)}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return lock

    def record_denial(self, handler: Handler) -> None:
        """Remember that a handler denied: from now on it is a guard, whatever it declares."""
        path = self._denial(handler)
        if path in self._denials:
            return
        with suppress(OSError):  # a state directory that cannot be written must not change the verdict
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._denials.add(path)

    def once_denied(self, handler: Handler) -> bool:
        """True if a handler with this name denied the same event before."""
        path = self._denial(handler)
        return path in self._denials or os.path.lexists(path)

    def _denial(self, handler: Handler) -> str:
        own = handler.origin in (Origin.USER, Origin.USER_PLUGIN)
        return os.path.join(self._directory, "denials", "user" if own else self._project, _name(handler))


def _name(handler: Handler) -> str:
    return sha256(f"{handler.event}/{handler.name}".encode()).hexdigest()[:32]


class RuntimeCall(Protocol):
    """Runs one handler: the `call` of a runtime."""

    def __call__(self, handler: Handler, event: Event, timeout: float) -> Reply: ...


def one_at_a_time(call: RuntimeCall, state: HandlerState, *, wait: float | None = None) -> RuntimeCall:
    """The call under a lock of its handler, which other lanes and the hooks of agents wait for.

    `wait` is how many seconds it waits for the lock; None waits forever. What `call` checks is checked after that.
    """

    def locked(handler: Handler, event: Event, timeout: float) -> Reply:
        with ExitStack() as lock:
            try:
                lock.enter_context(held(state.serial_lock(handler), wait=wait, note=handler.name))
            except Locked:
                return Reply(Outcome.TIMED_OUT, message=f"another call of it had not ended after {wait:g}s")
            except (OSError, UnsafePath) as error:
                return Reply(Outcome.NOT_STARTED, message=f"its lock cannot be taken: {error}")
            return call(handler, event, timeout)

    return locked
