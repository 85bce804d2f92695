"""What comes of firing an event: one record per call, and one for the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from samuel.config.model import DEFAULT
from samuel.events import Event, names
from samuel.hooks.handler import Handler, Outcome

SLOW_NOTE_MS = 50.0
SLOW_WARNING_MS = 500.0


# A built-in that waits for something else to end: the pause, the project's own checks.
WAITING = (names.BEFORE_ITERATION, names.QUALITY_CHECK)


def slowness(event: str, handler: str, duration_ms: float) -> str:
    """How a call of `handler` that takes so long is flagged: "", `note` or `warning`. An agent takes its time."""
    if event == names.AGENT_INVOKE or (handler == DEFAULT and event in WAITING):
        return ""
    if duration_ms > SLOW_WARNING_MS:
        return "warning"
    return "note" if duration_ms > SLOW_NOTE_MS else ""


class HandlerCall(msgspec.Struct, frozen=True):
    """One call of one handler."""

    handler: Handler
    position: int  # in the resolved chain, from 1
    outcome: Outcome
    duration_ms: float
    strict: bool
    result: Mapping[str, Any] = {}
    message: str = ""
    stderr: str = ""
    phase: str = ""

    @property
    def counts(self) -> bool:
        """The handler did its work: what it returned may be used."""
        return self.outcome is Outcome.OK or self.outcome is Outcome.DENIED

    @property
    def slow(self) -> str:
        """`note` or `warning` if the call took longer than a handler should, else empty."""
        return slowness(self.handler.event, self.handler.name, self.duration_ms)


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one event."""

    event: Event
    ok: bool  # nobody denied, nothing strict failed, and the composed result does not say no
    stopped: bool  # a denial or a strict failure: what fired the event must not go on
    result: Mapping[str, Any]
    calls: tuple[HandlerCall, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""  # why it was stopped
    context: Mapping[str, Any] = {}  # the context with what the handlers put into their own namespaces

    @property
    def denied(self) -> bool:
        """True if the verdict `deny` of a handler, or a guard that failed, stopped the event."""
        return self.stopped and self.result.get("decision") == "deny"

    @property
    def messages(self) -> list[str]:
        """What handlers want the person or a stopping agent to know. A loop's event may have anything there."""
        said = [self.result.get(key) for key in ("messages_to_user", "follow_up_messages")]
        return [str(message) for one in said if isinstance(one, list) for message in one]


class Sink(Protocol):
    """Who wants to know what happens. The journal is one; a test's list is another."""

    def begin(self, event: Event) -> None: ...

    def called(self, event: Event, call: HandlerCall) -> None: ...

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None: ...
