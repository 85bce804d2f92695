"""The journal of events: written while they happen, read by every command that shows the past."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samuel.journal.records import CallRecord, EndRecord, EventRecord, Record, WouldRecord
from samuel.journal.writer import Journal


def newest_first(root: Path, journal_dir: Path) -> Iterator[Record]:
    """The records of all segments, newest first; what is damaged is left out."""
    from samuel.journal import reader  # what writes the journal does without it

    return reader.newest_first(root, journal_dir)


__all__ = ["CallRecord", "EndRecord", "EventRecord", "Journal", "Record", "WouldRecord", "newest_first"]
