"""What hooks denied, or would have denied, while the agents of a run worked, from the journal, for the report."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from samuel.base.paths import Project
from samuel.hooks.handler import Outcome
from samuel.journal import CallRecord, EventRecord, newest_first


class SessionDenials(NamedTuple):
    """The denials in one session, each with the hook, its event and its reason."""

    enforced: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()  # what hooks with `mode = "observe"` would have denied


def denials_by_session(root: Path, since: float) -> dict[str, SessionDenials]:
    """By the id of a session, what was denied in it from `since` on."""
    denied: dict[str, SessionDenials] = {}  # by event, since its calls are read before it
    sessions: dict[str, SessionDenials] = {}
    for record in newest_first(root, Project(root).journal):
        if record.at < since:
            break
        if isinstance(record, CallRecord) and record.outcome == Outcome.DENIED:
            text = f"{record.handler} denied {record.event}: {' '.join(record.message.split())}"
            denied[record.event_id] = _joined(SessionDenials((text,)), denied.get(record.event_id))
        elif isinstance(record, CallRecord) and record.would is not None and record.would.stops:
            verb = "denied" if record.would.verdict == "deny" else "asked about"
            text = f"{record.handler} would have {verb} {record.event}: {' '.join(record.would.reason.split())}"
            denied[record.event_id] = _joined(SessionDenials(observed=(text,)), denied.get(record.event_id))
        elif isinstance(record, EventRecord) and record.event_id in denied and isinstance(record.session_id, str):
            sessions[record.session_id] = _joined(denied.pop(record.event_id), sessions.get(record.session_id))
    return sessions


def _joined(earlier: SessionDenials, later: SessionDenials | None) -> SessionDenials:
    if later is None:
        return earlier
    return SessionDenials((*earlier.enforced, *later.enforced), (*earlier.observed, *later.observed))
