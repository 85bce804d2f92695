"""What the journal adds to an event, and how that compares with appending the same bytes by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bench_projects import dispatcher, inline, project
from measure import Row, Times, at_most, below, take_turns

from samuel.base.clock import SystemClock
from samuel.events import ContextExtra
from samuel.journal import Journal


def run(scratch: Path) -> Iterator[Row]:
    event = ContextExtra(task={"id": "1", "title": "a task"})
    answer = {"extras": [{"name": "note.md", "content": "a note"}]}
    with project(scratch) as root:
        handlers = [inline("context.extra", "one", lambda event: answer)]
        journal = Journal(root, root / ".samuel/run/journal", SystemClock(), print)
        without, with_journal = dispatcher(root, handlers), dispatcher(root, handlers, journal)
        with_journal.fire(event)
        records = _last_event(root / ".samuel/run/journal")
        raw = os.open(root / "raw.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def append() -> None:
            for record in records:
                os.write(raw, record)

        plain, journalled, appended = take_turns(
            lambda: without.fire(event), lambda: with_journal.fire(event), append, rounds=400, inner=25
        )
        journal.close()
        os.close(raw)
    added = Times(journalled.p50 - plain.p50, max(journalled.p95 - plain.p95, 0.0))
    yield below("the journal's addition to one event", added, 25e-6)
    yield at_most("the same, vs appending the same records raw", added, appended, 3)


def _last_event(journal: Path) -> list[bytes]:
    """The records of one event: begin, call, end."""
    segment = next(journal.glob("*.jsonl"))
    return [line + b"\n" for line in segment.read_bytes().split(b"\n") if line]
