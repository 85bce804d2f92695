"""Runs recorded events through the chains of an opened project. No replay is in the journal or in a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from samuel.dispatch.record import CombinedSink
from samuel.events.catalogue import EVENTS
from samuel.journal.replay import (
    EventComparison,
    JournalledEvent,
    NotReplayable,
    compare,
    replayed_chain,
    replayed_event,
)

if TYPE_CHECKING:
    from samuel.app.project import App

REPLAYED = tuple(event.name for event in EVENTS if event.composition.can_deny and not event.irreversible)
"""The events that are replayed: those whose handlers decide something and do nothing else."""


class ReplayedEvent(NamedTuple):
    """A recorded event with what its replay showed, or with the reason why there is none."""

    recorded: JournalledEvent
    comparison: EventComparison | None
    why_not: str = ""


def replay(
    app: App, events: Iterable[JournalledEvent], progress: Callable[[int], None] = lambda done: None
) -> Iterator[ReplayedEvent]:
    """Fire each event again. Only handlers that may run do, as always; every question is answered with yes."""
    chains = {name: replayed_chain(app.chains[name]) for name in REPLAYED}
    dispatcher = app.make_dispatcher(chains, CombinedSink(), ask=lambda question: True)
    try:
        for done, recorded in enumerate(events):
            progress(done)
            try:
                event = replayed_event(recorded, app.chains[recorded.event.event])
            except NotReplayable as error:
                yield ReplayedEvent(recorded, None, error.message)
                continue
            yield ReplayedEvent(recorded, compare(recorded, dispatcher.fire(event)))
    finally:
        dispatcher.close()
