"""The time that a run spent in every event and every handler: p50, p95 and total."""

from __future__ import annotations

from samuel.dispatch.record import Fired, HandlerCall, slowness
from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD

ALL = "(all)"  # stands for all handlers of an event together
COLUMNS = ("event", "handler", "calls", "p50 ms", "p95 ms", "total ms", "slow")


class RunProfile:
    """A sink that collects durations."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], list[float]] = {}

    def begin(self, event: Event) -> None:
        pass

    def called(self, event: Event, call: HandlerCall) -> None:
        self._times.setdefault((call.handler.event, call.handler.name), []).append(call.duration_ms)

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        self._times.setdefault((BY_PAYLOAD[type(event)].name, ALL), []).append(duration_ms)

    def rows(self) -> list[tuple[str, ...]]:
        """A row of `COLUMNS` for each handler of each event, the slowest first."""
        rows: list[tuple[str, ...]] = []
        for (event, handler), times in sorted(self._times.items(), key=lambda item: -sum(item[1])):
            ordered = sorted(times)
            p50, p95 = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
            slow = "" if handler == ALL else slowness(event, handler, p95)
            rows.append(
                (event, handler, str(len(times)), f"{p50:.1f}", f"{p95:.1f}", f"{sum(times):.0f}", slow or "-")
            )
        return rows
