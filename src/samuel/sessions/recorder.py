"""Fires the events of a session and keeps what the hooks answered: suggestions, documents, follow-up actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.clock import Clock, iso
from samuel.dispatch.record import Fired
from samuel.errors import SamuelError
from samuel.events import Event, SessionStart, SessionStop
from samuel.events.catalogue import BY_PAYLOAD
from samuel.sessions.changed_files import ChangedFiles
from samuel.sessions.follow_up import FollowUpActions, carry_out
from samuel.sessions.session import DROPPED, FollowUp, Session, heard
from samuel.sessions.store import SessionStore


class RecordedEvent(NamedTuple):
    fired: Fired
    session: Session
    follow_ups: tuple[FollowUp, ...]  # those of this event, with what became of them


class SessionRecorder:
    def __init__(
        self,
        fire: Callable[[Event], Fired],
        store: SessionStore,
        desk: FollowUpActions,
        clock: Clock,
        files: ChangedFiles,
    ) -> None:
        self._fire = fire
        self._store = store
        self._desk = desk
        self._clock = clock
        self._files = files

    def begin(self, id: str) -> RecordedEvent:
        """Begin a new session."""
        before = self._store.load(id)
        if before is not None and not before.refused:
            raise SamuelError(f"the session `{id}` has begun already", "choose another id")
        return self.fire(id, SessionStart())

    def fire(self, id: str, event: Event) -> RecordedEvent:
        """Fire an event of a session. It begins with SessionStart, or with the first thing there is to keep."""
        before = self._store.load(id)
        if isinstance(event, SessionStart) and (before is None or before.refused):
            new = Session(id, iso(self._clock.now()), tree=self._files.look())
            before = self._store.change(id, lambda now: new if now is None or now.refused else now)
        stage = event.stage or (before.stage if before else "") or UNSET
        event = replace(event, session_id=id, stage=stage)
        if isinstance(event, SessionStop) and event.changed_files is UNSET and before and before.tree:
            event = replace(event, changed_files=self._files.changed(before.tree))
        return self.keep(id, self._fire(event))

    def keep(self, id: str, fired: Fired) -> RecordedEvent:
        """What came of an event, kept with its session if there is anything to keep."""
        kind, at = BY_PAYLOAD[type(fired.event)], iso(self._clock.now())
        # Only the events of sessions have a result that was checked for what is kept here.
        if kind.family != "session" or (not fired.result and self._store.load(id) is None):
            return RecordedEvent(fired, Session(id, at), ())
        known = 0

        def with_it(before: Session | None) -> Session:
            nonlocal known
            before = before or Session(id, at)
            known = before.last_number
            now = heard(before, kind.name, fired.result, at, fired.event.stage or "")
            if isinstance(fired.event, SessionStart) and fired.stopped:
                return replace(now, ended=at, refused=fired.reason)
            return now

        session = self._store.change(id, with_it)
        mine = tuple(one for one in session.follow_ups if one.number > known)
        if fired.stopped:  # what was said no to has no consequences
            return RecordedEvent(fired, session, mine)
        return RecordedEvent(fired, *self._carried_out(session, mine))

    def do(self, session: Session, follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
        """Carry out what waits in a session; gives what became of it."""
        return self._carried_out(session, follow_ups)[1]

    def drop(self, session: Session, follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
        dropped = {one.number: replace(one, state=DROPPED, note="") for one in follow_ups}
        self._store.change(session.id, lambda now: _noted(now or session, dropped))
        return tuple(dropped.values())

    def _carried_out(
        self, session: Session, follow_ups: Iterable[FollowUp]
    ) -> tuple[Session, tuple[FollowUp, ...]]:
        """Outside of the lock: a command may take its time."""
        done = {one.number: carry_out(one, self._desk) for one in follow_ups}
        if done:
            session = self._store.change(session.id, lambda now: _noted(now or session, done))
        return session, tuple(done.values())


def _noted(session: Session, done: dict[int, FollowUp]) -> Session:
    return replace(session, follow_ups=tuple(done.get(one.number, one) for one in session.follow_ups))
