"""What a runtime is: one way to call one handler, whatever it is written in.

A runtime never raises for what a handler does. Whatever happens becomes one of the outcomes, with a message
that says what and a stderr that is kept apart from the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome


class Reply(msgspec.Struct, frozen=True):
    """How a call went, before anybody looked at what the answer means."""

    outcome: Outcome
    result: Mapping[str, Any] = {}  # of one that ended badly too, if it had said something
    message: str = ""
    stderr: str = ""
    size: int = 0  # of the answer as JSON, in bytes


class Runtime(Protocol):
    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        """Run the handler, for at most `timeout` seconds, and end everything it started."""

    def close(self) -> None:
        """End what was kept warm."""
