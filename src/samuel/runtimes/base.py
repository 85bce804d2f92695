"""The protocol of a runtime: a way to call handlers of one kind.

A runtime never raises because of what a handler does. Whatever happens becomes one of the outcomes, with a
message, and with the handler's stderr apart from its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from samuel.base.clock import Clock, SystemClock
from samuel.config.model import Limits
from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.trust.content import NO_CONTENT, TrustedContent

if TYPE_CHECKING:
    from samuel.runtimes.confined import Confinement


class Setting(msgspec.Struct, frozen=True):
    """What runtimes are created with."""

    root: Path
    environment: Mapping[str, str]  # of hooks
    cache: Path
    limits: Limits = Limits()
    clock: Clock = SystemClock()
    host: Mapping[str, str] = {}  # the environment that granted variables of containers come from
    forks: bool = False
    """Whether workers without walls may be forks of this process, where that makes no difference to hooks."""
    walls: str = ""  # the kind of walls around plugins; "" is the best one that the machine has

    def confinement(self) -> Confinement:
        """The walls around the processes of plugins."""
        from samuel.runtimes.confined import Confinement  # most hooks have none, and it is slow to import

        return Confinement(self)


class Reply(msgspec.Struct, frozen=True):
    """How a call ended; its result is not validated yet."""

    outcome: Outcome
    result: Mapping[str, Any] = {}  # also of a handler that crashed or timed out, if it wrote one
    message: str = ""
    stderr: str = ""
    size: int = 0  # of the result as JSON, in bytes
    changed: bool = False  # its files changed since it was permitted: it did not run, or it is not known what ran


class Runtime(Protocol):
    """Calls handlers of one kind."""

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        """Run the handler, for at most `timeout` seconds, and end everything it started.

        It runs the bytes that `content` has digests of, as far as it opens files itself. A handler whose file is
        another one is not run, and the reply is `changed`.
        """

    def close(self) -> None:
        """End the processes and containers that were kept for later calls."""


def timed_out(timeout: float, stderr: str, result: Mapping[str, Any] | None = None) -> Reply:
    return Reply(Outcome.TIMED_OUT, result or {}, message=f"killed after {timeout:g}s", stderr=stderr)


def too_much_output(limit: int, stderr: str) -> Reply:
    why = f"more than {limit} bytes of output; `handler_output_bytes` under [limits] sets the limit"
    return Reply(Outcome.BAD_OUTPUT, message=why, stderr=stderr)
