"""What hooks denied while the agents of a run worked, from the journal, for the report."""

from __future__ import annotations

from pathlib import Path

from samuel.hooks.handler import Outcome
from samuel.journal import CallRecord, EventRecord, newest_first
from samuel.paths import Project


def denials_by_session(root: Path, since: float) -> dict[str, tuple[str, ...]]:
    """By the id of a session, what was denied in it from `since` on: the hook, its event and its reason."""
    denied: dict[str, list[str]] = {}  # by event, since its calls are read before it
    sessions: dict[str, tuple[str, ...]] = {}
    for record in newest_first(root, Project(root).journal):
        if record.at < since:
            break
        if isinstance(record, CallRecord) and record.outcome == Outcome.DENIED:
            text = f"{record.handler} denied {record.event}: {' '.join(record.message.split())}"
            denied.setdefault(record.event_id, []).insert(0, text)
        elif isinstance(record, EventRecord) and record.event_id in denied and isinstance(record.session_id, str):
            sessions[record.session_id] = (*denied.pop(record.event_id), *sessions.get(record.session_id, ()))
    return sessions
