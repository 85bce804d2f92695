"""Handlers that never run twice at the same time."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Protocol

from samuel.base.errors import Locked, UnsafePath
from samuel.dispatch.handler_state import HandlerState
from samuel.events import Event
from samuel.files.lock import held
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply


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
