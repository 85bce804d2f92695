"""The events of the journal, each with the calls of its handlers and its outcome."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from samuel.journal import CallRecord, EndRecord, EventRecord, newest_first


class JournalledEvent(NamedTuple):
    """What the journal has about one event."""

    event: EventRecord
    calls: tuple[CallRecord, ...] = ()  # in the order in which they were made
    end: EndRecord | None = None  # None: the process was killed before


def recorded_events(
    root: Path, journal_dir: Path, names: Collection[str], since: float, limit: int
) -> list[JournalledEvent]:
    """The newest `limit` of the events with these names that were fired since then, the oldest first."""
    events: list[JournalledEvent] = []
    calls: dict[str, list[CallRecord]] = {}  # by event: its calls and its end are read before it
    ends: dict[str, EndRecord] = {}
    for record in newest_first(root, journal_dir):
        if record.at < since or len(events) >= limit:
            break
        if record.event not in names:
            continue
        if isinstance(record, CallRecord):
            calls.setdefault(record.event_id, []).insert(0, record)
        elif isinstance(record, EndRecord):
            ends[record.event_id] = record
        else:
            own_calls = tuple(calls.pop(record.event_id, ()))
            events.append(JournalledEvent(record, own_calls, ends.pop(record.event_id, None)))
    return events[::-1]
