"""A recorded event beside its replay: handler by handler, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

from samuel.dispatch.record import Fired
from samuel.events.catalogue import BY_NAME
from samuel.journal.replay.recorded import JournalledEvent
from samuel.journal.replay.verdict import (
    ALLOW,
    EventVerdict,
    recorded_decision,
    recorded_verdicts,
    replayed_decision,
    replayed_verdicts,
)
from samuel.journal.subject import subject


class HandlerComparison(NamedTuple):
    """What one handler decided; None: it was not called, which is no objection either."""

    handler: str
    recorded: EventVerdict | None
    today: EventVerdict | None

    @property
    def changed(self) -> bool:
        return not (self.recorded or ALLOW).same(self.today or ALLOW)


class EventComparison(NamedTuple):
    """One replayed event."""

    event_id: str
    event: str
    at: float
    subject: str  # the tool and its input, or the message
    recorded: EventVerdict
    today: EventVerdict
    handlers: tuple[HandlerComparison, ...]

    @property
    def decided_otherwise(self) -> bool:
        """True if what came of the event is different."""
        return not self.recorded.same(self.today)

    @property
    def changed(self) -> bool:
        """True if any verdict is different, even if nothing else came of the event."""
        return self.decided_otherwise or any(handler.changed for handler in self.handlers)


def compare(recorded: JournalledEvent, fired: Fired) -> EventComparison:
    """`recorded`, which has an end, beside the outcome of its replay."""
    kind, record = BY_NAME[recorded.event.event], recorded.event
    assert recorded.end is not None
    then, today = recorded_verdicts(kind, recorded.calls), replayed_verdicts(kind, fired.calls)
    return EventComparison(
        record.event_id,
        kind.name,
        record.at,
        subject(record),
        recorded_decision(kind, recorded.end, then.values()),
        replayed_decision(kind, fired, today.values()),
        tuple(HandlerComparison(name, then.get(name), today.get(name)) for name in dict.fromkeys((*then, *today))),
    )
