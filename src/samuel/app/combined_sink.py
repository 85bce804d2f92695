"""The journal, the hooks' log and what a program adds, given each event as one."""

from __future__ import annotations

from samuel.dispatch.record import Fired, HandlerCall, Sink
from samuel.events import Event


class CombinedSink:
    """Several sinks as one."""

    def __init__(self, sinks: tuple[Sink, ...]) -> None:
        self._sinks = sinks

    def begin(self, event: Event) -> None:
        for sink in self._sinks:
            sink.begin(event)

    def called(self, event: Event, call: HandlerCall) -> None:
        for sink in self._sinks:
            sink.called(event, call)

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        for sink in self._sinks:
            sink.end(event, fired, duration_ms)
