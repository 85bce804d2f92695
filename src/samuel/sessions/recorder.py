"""Fires the events of a session and stores what the hooks returned: suggestions, documents, follow-up actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.clock import Clock, iso
from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.dispatch.record import Fired
from samuel.events import Event, SessionStart, SessionStop
from samuel.events.catalogue import BY_PAYLOAD
from samuel.git.git import Git, WorkTreeState
from samuel.sessions.follow_up import FollowUpActions, carry_out
from samuel.sessions.session import DROPPED, FollowUp, Session, add_result
from samuel.sessions.store import SessionStore


class RecordedEvent(NamedTuple):
    fired: Fired
    session: Session
    follow_ups: tuple[FollowUp, ...]  # those of this event, with their new state


class ChangedFiles:
    """The files that a session changes: the work tree is recorded when it begins and compared later."""

    def __init__(self, open_git: Callable[[], Git], warn: Callable[[str], None]) -> None:
        """`open_git` is called when it is needed: at the begin and the end of a session, not at each tool call."""
        self._open_git = open_git
        self._warn = warn

    @cached_property
    def _git(self) -> Git:
        return self._open_git()

    def current_state(self) -> WorkTreeState | None:
        """The state of the work tree now; None where git cannot tell."""
        try:
            tree = self._git.work_tree() if self._git.available and self._git.is_repository else None
        except SamuelError:
            return None
        # Names that are not UTF-8 cannot be stored in JSON.
        return tree if tree is None or all(path.isprintable() for path in tree.differing) else None

    def changed(self, since: WorkTreeState) -> list[str]:
        """The files that changed since then, committed or not, without those that Samuel itself writes."""
        try:
            paths = self._git.changed_since(since)
        except SamuelError as error:
            self._warn(f"cannot tell which files changed: {error.message}")
            return []
        return [file_name(path) for path in paths if not path.startswith(VOLATILE_DIRS)]


class SessionRecorder:
    def __init__(
        self,
        fire: Callable[[Event], Fired],
        store: SessionStore,
        actions: FollowUpActions,
        clock: Clock,
        files: ChangedFiles,
    ) -> None:
        self._fire = fire
        self._store = store
        self._actions = actions
        self._clock = clock
        self._files = files

    def begin(self, id: str) -> RecordedEvent:
        """Begin a new session."""
        before = self._store.load(id)
        if before is not None and not before.refused:
            raise SamuelError(f"the session `{id}` has already begun", "choose another id")
        return self.fire(id, SessionStart())

    def fire(self, id: str, event: Event) -> RecordedEvent:
        """Fire an event of a session. The session begins with SessionStart, or with the first result to store."""
        before = self._store.load(id)
        if isinstance(event, SessionStart) and (before is None or before.refused):
            new = Session(id, iso(self._clock.now()), tree=self._files.current_state())
            before = self._store.change(id, lambda now: new if now is None or now.refused else now)
        stage = event.stage or (before.stage if before else "") or UNSET
        event = replace(event, session_id=id, stage=stage)
        if isinstance(event, SessionStop) and event.changed_files is UNSET and before and before.tree:
            event = replace(event, changed_files=self._files.changed(before.tree))
        return self.keep(id, self._fire(event))

    def keep(self, id: str, fired: Fired) -> RecordedEvent:
        """Store the result of an event in its session, if there is anything to store."""
        kind, at = BY_PAYLOAD[type(fired.event)], iso(self._clock.now())
        # Only the results of session events have been checked for what is stored here.
        if kind.family != "session" or (not fired.result and self._store.load(id) is None):
            return RecordedEvent(fired, Session(id, at), ())
        last_number = 0

        def add_to(before: Session | None) -> Session:
            nonlocal last_number
            before = before or Session(id, at)
            last_number = before.last_number
            now = add_result(before, kind.name, fired.result, at, fired.event.stage or "")
            if isinstance(fired.event, SessionStart) and fired.stopped:
                return replace(now, ended=at, refused=fired.reason)
            return now

        session = self._store.change(id, add_to)
        new = tuple(action for action in session.follow_ups if action.number > last_number)
        if fired.stopped:  # a denied event has no follow-ups carried out
            return RecordedEvent(fired, session, new)
        return RecordedEvent(fired, *self._carry_out(session, new))

    def do(self, session: Session, follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
        """Carry out follow-ups that wait in a session; returns them with their new state."""
        return self._carry_out(session, follow_ups)[1]

    def drop(self, session: Session, follow_ups: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
        dropped = {action.number: replace(action, state=DROPPED, note="") for action in follow_ups}
        self._store.change(session.id, lambda now: _with_follow_ups(now or session, dropped))
        return tuple(dropped.values())

    def _carry_out(self, session: Session, follow_ups: Iterable[FollowUp]) -> tuple[Session, tuple[FollowUp, ...]]:
        """Not under the lock, since a command may take long."""
        done = {action.number: carry_out(action, self._actions) for action in follow_ups}
        if done:
            session = self._store.change(session.id, lambda now: _with_follow_ups(now or session, done))
        return session, tuple(done.values())


def _with_follow_ups(session: Session, updated: dict[int, FollowUp]) -> Session:
    return replace(session, follow_ups=tuple(updated.get(action.number, action) for action in session.follow_ups))
