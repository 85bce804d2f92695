"""The records of a fired event: one per call of a handler, and one for the whole event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import msgspec

from samuel.config.model import DEFAULT
from samuel.events import Event, names
from samuel.hooks.handler import Handler, Outcome

AskUser = Callable[[str], bool | None]
"""Asks the user a question; True is yes. None: the caller asks, and the verdict stays `ask`."""

SLOW_NOTE_MS = 50.0
SLOW_WARNING_MS = 500.0


# Events whose built-in handler waits: for the pause between iterations, for the project's checks.
WITH_WAITING_BUILT_IN = (names.BEFORE_ITERATION, names.QUALITY_CHECK)


def slowness(event: str, handler: str, duration_ms: float) -> str:
    """How a call that took `duration_ms` is flagged: "", `note` or `warning`. Agents are never flagged."""
    if event == names.AGENT_INVOKE or (handler == DEFAULT and event in WITH_WAITING_BUILT_IN):
        return ""
    if duration_ms > SLOW_WARNING_MS:
        return "warning"
    return "note" if duration_ms > SLOW_NOTE_MS else ""


def percentile(values: Iterable[float], percent: int) -> float:
    """The smallest of the values that `percent` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


class Would(msgspec.Struct, frozen=True):
    """What an observed handler would have done to the event."""

    verdict: str  # deny, ask, fail (the event would not be ok), rewrite or allow
    reason: str = ""
    result: Mapping[str, Any] = {}  # what it returned, of which nothing was used


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
    would: Would | None = None  # of an observed handler; the rest of its record says that it decided nothing
    background: bool = False  # its answer was not awaited

    @property
    def counts(self) -> bool:
        """True when the handler ran to its end, so that its result may be used."""
        return self.outcome is Outcome.OK or self.outcome is Outcome.DENIED

    @property
    def slow(self) -> str:
        """`note` or `warning` if the call took longer than a handler should that is waited for, else empty."""
        return "" if self.background else slowness(self.handler.event, self.handler.name, self.duration_ms)


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one event."""

    event: Event
    ok: bool  # no denial, no strict failure, and no `ok: false` in the composed result
    stopped: bool  # a denial or a strict failure: the caller must not continue
    result: Mapping[str, Any]
    calls: tuple[HandlerCall, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""  # why it was stopped
    context: Mapping[str, Any] = {}  # the context with what the handlers put into their own namespaces
    background: tuple[str, ...] = ()  # the names of the handlers that were started and not waited for

    @property
    def denied(self) -> bool:
        """True if the verdict `deny` of a handler, or a guard that failed, stopped the event."""
        return self.stopped and self.result.get("decision") == "deny"

    @property
    def messages(self) -> list[str]:
        """The messages of handlers to the user or to an agent that stops. Loop events may have any value there."""
        lists = [self.result.get(key) for key in ("messages_to_user", "follow_up_messages")]
        return [str(message) for messages in lists if isinstance(messages, list) for message in messages]


class Sink(Protocol):
    """Receives every event, call and outcome. The journal is a sink."""

    def begin(self, event: Event) -> None: ...

    def called(self, event: Event, call: HandlerCall) -> None: ...

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None: ...


class CombinedSink:
    """Several sinks as one; none of them keeps nothing. With a `lock` they get one call at a time."""

    def __init__(self, *sinks: Sink, lock: AbstractContextManager[Any] | None = None) -> None:
        self._sinks = sinks
        self._lock = lock or nullcontext()

    def begin(self, event: Event) -> None:
        with self._lock:
            for sink in self._sinks:
                sink.begin(event)

    def called(self, event: Event, call: HandlerCall) -> None:
        with self._lock:
            for sink in self._sinks:
                sink.called(event, call)

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        with self._lock:
            for sink in self._sinks:
                sink.end(event, fired, duration_ms)
