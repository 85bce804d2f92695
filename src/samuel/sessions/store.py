"""The sessions of a project on disk: `.samuel/run/sessions/<id>.json`, changed by one process at a time."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.decoding import decode_json
from samuel.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.files.lock import held
from samuel.paths import Project
from samuel.sessions.session import Session

MOST_SESSIONS = 500  # the oldest go when there are more
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
        """The session of this id, if it ever began."""
        try:
            data = read_inside(self._root, *self._parts, _file(id), limit=LIMIT)
        except FileNotFoundError:
            return None
        try:
            return decode_json(data, Session)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            where = str(self._directory / _file(id))
            raise ConfigError([Problem(f"this is no session: {error}", where, 0, "remove it")]) from None

    def change(self, id: str, function: Callable[[Session | None], Session]) -> Session:
        """Replace the session by what `function` makes of it, with nobody else in between; gives the new one."""
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
        found = [session for session in self.all() if not session.ended]
        if not found:
            raise SamuelError("no session is open", "`samuel session start` begins one")
        return max(found, key=lambda session: session.started)

    def named(self, id: str) -> Session:
        """The session of this id, or the latest one without an id; an error if there is none."""
        if not id:
            return self.latest()
        session = self.load(id)
        if session is None:
            raise UsageError(f"there is no session `{id}`", "`samuel session start --id ...` begins one")
        return session

    def all(self) -> list[Session]:
        """Those that can be read: a file that is no session is in nobody's way but its own."""
        found = []
        for id in self.ids():
            with suppress(ConfigError):
                if session := self.load(id):
                    found.append(session)
        return found

    def ids(self) -> list[str]:
        """Of those whose file is named after them; a session with an odd id is found by that id alone."""
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        return sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING) and name[0] != ".")


def _file(id: str) -> str:
    """An id is the caller's: what could not be a file's name goes by its digest."""
    if _PLAIN.fullmatch(id):
        return f"{id}{_ENDING}"
    return f".{hashlib.sha256(id.encode(errors='replace')).hexdigest()[:32]}{_ENDING}"


def _drop_oldest(directory: int) -> None:
    ages = []
    for name in os.listdir(directory):
        if name.endswith(_ENDING):
            with suppress(FileNotFoundError):
                ages.append((os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime_ns, name))
    for _, name in sorted(ages)[:-MOST_SESSIONS]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
