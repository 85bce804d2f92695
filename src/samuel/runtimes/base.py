"""The protocol of a runtime: a way to call handlers of one kind.

A runtime never raises because of what a handler does. Whatever happens becomes one of the outcomes, with a
message, and with the handler's stderr apart from its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.trust.content import NO_CONTENT, TrustedContent


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
