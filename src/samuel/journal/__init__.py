"""The journal of events: written while they happen, read by every command that shows the past."""

from samuel.journal.reader import newest_first
from samuel.journal.records import CallRecord, EndRecord, EventRecord, Record, WouldRecord
from samuel.journal.writer import Journal

__all__ = ["CallRecord", "EndRecord", "EventRecord", "Journal", "Record", "WouldRecord", "newest_first"]
