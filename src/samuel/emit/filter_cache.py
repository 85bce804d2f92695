"""The filters of all hooks of a project, cached in one file for as long as every file that decides stays the same.

`samuel emit` answers with them before the engine is loaded (`without_engine.py`), and a server keeps them with the
project that it has opened.
"""

from __future__ import annotations

import marshal
import os
import sys

from samuel.emit.fnv import fnv1a
from samuel.files import file_cache
from samuel.files.survey import ITSELF, TooManyFiles, is_as_before, signature_if_exists
from samuel.trust.repository_identity import repository_identity
from samuel.version import __version__

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from samuel.app import App
    from samuel.events import EventType


def load(root: str, home: str, environment: str) -> Mapping[str, Any] | None:
    """What was stored about a project, if every file that decides is as it was then; else None."""
    cached = file_cache.load(_file(root, home), marshal.loads)
    if cached is None or cached["stamp"] != _stamp(root, home, environment) or not as_it_was(cached["files"]):
        return None
    return cached  # type: ignore[no-any-return]


def _file(root: str, home: str) -> str:
    own = os.environ.get("XDG_STATE_HOME", "")  # the specification says to ignore a relative path
    state = own if os.path.isabs(own) else f"{home}/.local/state"
    return f"{state}/samuel/quick/{fnv1a(os.fsencode(root)):016x}"


def _stamp(root: str, home: str, environment: str) -> str:
    """What the answer depends on apart from the files of hooks and settings."""
    name, trust = environment or os.environ.get("SAMUEL_ENV", ""), os.environ.get("SAMUEL_TRUST", "")
    return repr((__version__, sys.version, root, home, name, trust, repository_identity(root)))


def as_it_was(files: Mapping[str, Any]) -> bool:
    """Whether the files, and those in the directories, are still the same. What cannot be read is not."""
    try:
        return all(is_as_before(place, before) for place, before in files.items())
    except (OSError, TooManyFiles):
        return False


def deciding(root: Path) -> dict[str, Any]:
    """The files that decide which hooks run, apart from hook files, as they were before the engine read them."""
    from samuel.paths import CANARIES, Project, User
    from samuel.trust.repository import trust_key

    project, user = Project(root), User.from_environment()
    agreed = user.state / "trust" / f"{trust_key(root)}.json"
    files = (project.config, user.config, project.lock, user.lock, agreed, user.state / CANARIES)
    return {str(file): {ITSELF: own} if (own := signature_if_exists(file)) else {} for file in files}


def store(app: App, environment: str, before: Mapping[str, Any]) -> None:
    """Store what is needed to answer without the engine, if the answer depends on nothing but files."""
    watched = app.discovery.index.watched_files
    if watched is None or not is_settled(app):
        return
    root, home = str(app.paths.root), str(app.user.home)
    cached = {"files": {**watched, **before}, "stamp": _stamp(root, home, environment)}
    file = _file(root, home)
    stored = file_cache.load(file, marshal.loads)
    if isinstance(stored, dict) and all(stored.get(key) == value for key, value in cached.items()):
        return  # the same files make the same filters; to compute them would resolve every chain
    file_cache.save(file, {**cached, **filters(app)}, marshal.dumps)


def is_settled(app: App) -> bool:
    """Whether nothing is to be said about the project itself, whatever the event."""
    return not (app.config.distributions or app.warnings or app.unasked_hooks())


def filters(app: App) -> dict[str, Any]:
    """What `answer_unmatched` needs: the filters of each event's handlers, and the spellings of the names."""
    from samuel.events.names import ALL, spellings

    rows = {
        name: row_of(chain.event, [step.handler.match for step in chain.steps])
        for name, chain in app.chains.items()
        if not chain.warnings and all(step.handler.match for step in chain.steps)
    }
    return {"names": {spelling: name for name in ALL for spelling in spellings(name)}, "events": rows}


def row_of(event: EventType, matches: list[dict[str, Any]]) -> dict[str, Any]:
    """What is kept of one event."""
    import json

    from samuel.events.schema import plain_fields

    fields, needed = plain_fields(event.payload)
    return {
        "fields": fields,
        "needed": needed,
        "matches": matches,
        "empty": json.dumps(dict(event.composition.empty), separators=(",", ":")),
    }
