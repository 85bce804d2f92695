"""The sessions of a project on disk: `.samuel/run/sessions/<id>.json`, changed by one process at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.base.paths import Project
from samuel.events.explain import explained
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.files.lock import held
from samuel.sessions.session import Session
from samuel.sha256 import sha256

MOST_SESSIONS = 500  # the oldest are removed when there are more
LIMIT = 64 * 1024 * 1024
WAIT = 30.0  # a change takes milliseconds

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ENDING = ".json"


class SessionStore:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._directory = Project(root).sessions
        self._parts = self._directory.relative_to(root).parts

    def load(self, id: str) -> Session | None:
        """The session of this id; None if it never began."""
        try:
            data = read_inside(self._root, *self._parts, _file(id), limit=LIMIT)
        except FileNotFoundError:
            return None
        try:
            return decode_json(data, Session)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            where = str(self._directory / _file(id))
            raise ConfigError(
                [Problem(f"not a valid session: {explained(error, Session)}", where, 0, "remove it")]
            ) from None

    def change(self, id: str, function: Callable[[Session | None], Session]) -> Session:
        """Replace the session by what `function` returns, under a lock; returns the new one."""
        directory = make_dirs_inside(self._root, *self._parts)
        try:
            with held(self._directory / ".lock", wait=WAIT, note="changing a session"):
                before = self.load(id)
                session = function(before)
                if session != before:
                    data = msgspec.json.format(msgspec.json.encode(session), indent=1)
                    atomic.write_at(directory, _file(id), data, 0o600)
                if before is None:
                    _drop_oldest(directory)
        finally:
            os.close(directory)
        return session

    def latest(self) -> Session:
        """The open session that began last."""
        open_sessions = [session for session in self.all() if not session.ended]
        if not open_sessions:
            raise SamuelError("no session is open", "`samuel session start` begins one")
        return max(open_sessions, key=lambda session: session.started)

    def named(self, id: str) -> Session:
        """The session of this id, or the latest one without an id; an error if there is none."""
        if not id:
            return self.latest()
        session = self.load(id)
        if session is None:
            raise UsageError(f"there is no session `{id}`", "`samuel session start --id ...` begins one")
        return session

    def all(self) -> list[Session]:
        """All sessions that can be read; other files are skipped."""
        sessions = []
        for id in self.ids():
            with suppress(ConfigError):
                if session := self.load(id):
                    sessions.append(session)
        return sessions

    def ids(self) -> list[str]:
        """The ids of sessions whose file has their name; one whose file is named by a digest is not listed."""
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        return sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING) and name[0] != ".")


def _file(id: str) -> str:
    """The caller chooses the id: one that cannot be a file name is replaced by its digest."""
    if _PLAIN.fullmatch(id):
        return f"{id}{_ENDING}"
    return f".{sha256(id.encode(errors='replace')).hexdigest()[:32]}{_ENDING}"


def _drop_oldest(directory: int) -> None:
    ages = []
    for name in os.listdir(directory):
        if name.endswith(_ENDING):
            with suppress(FileNotFoundError):
                ages.append((os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime_ns, name))
    for _, name in sorted(ages)[:-MOST_SESSIONS]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
