"""Firing the events of a session, and keeping what comes of them: what REPO asks of whoever orchestrates hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from samuel.clock import Clock, iso
from samuel.dispatch.record import Fired
from samuel.errors import SamuelError
from samuel.events import Event, SessionStart
from samuel.events.catalogue import BY_PAYLOAD
from samuel.process.git import WorkTree
from samuel.sessions.follow_up import Desk, carry_out
from samuel.sessions.session import FollowUp, Session, heard
from samuel.sessions.store import SessionStore


class Kept(NamedTuple):
    fired: Fired
    session: Session
    follow_ups: tuple[FollowUp, ...]  # those of this event, with what became of them


class Keeper:
    def __init__(self, fire: Callable[[Event], Fired], store: SessionStore, desk: Desk, clock: Clock) -> None:
        self._fire = fire
        self._store = store
        self._desk = desk
        self._clock = clock

    def begin(self, id: str, tree: WorkTree | None = None) -> Session:
        """A new session; its event is still to be fired."""

        def new(before: Session | None) -> Session:
            if before is not None:
                raise SamuelError(f"the session `{id}` has begun already", "choose another id")
            return Session(id, iso(self._clock.now()), tree=tree)

        return self._store.change(id, new)

    def fire(self, id: str, event: Event) -> Kept:
        """Fire an event of a session. It begins with SessionStart, or with the first thing there is to keep."""
        begins = isinstance(event, SessionStart)
        return self.keep(id, self._fire(replace(event, session_id=id)), begins=begins)

    def keep(self, id: str, fired: Fired, *, begins: bool = False) -> Kept:
        """What came of an event, kept with its session if there is anything to keep."""
        kind, at = BY_PAYLOAD[type(fired.event)], iso(self._clock.now())
        # Only the events of sessions have a result that was checked for what is kept here.
        nothing = not fired.result and not begins
        if kind.family != "session" or (nothing and self._store.load(id) is None):
            return Kept(fired, Session(id, at), ())

        def with_it(before: Session | None) -> Session:
            return heard(before or Session(id, at), kind.name, fired.result, at)

        session = self._store.change(id, with_it)
        return self._carried_out(fired, session, kind.name, at)

    def _carried_out(self, fired: Fired, session: Session, name: str, at: str) -> Kept:
        """Outside of the lock: a command may take its time."""
        mine = {one.number for one in session.follow_ups if (one.event, one.at) == (name, at)}
        done = {one.number: carry_out(one, self._desk) for one in session.follow_ups if one.number in mine}
        if done:
            session = self._store.change(session.id, lambda now: _noted(now or session, done))
        return Kept(fired, session, tuple(done.values()))


def _noted(session: Session, done: dict[int, FollowUp]) -> Session:
    return replace(session, follow_ups=tuple(done.get(one.number, one) for one in session.follow_ups))
