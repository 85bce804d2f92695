"""The filters of all hooks of a project, cached in one file for as long as every file that decides stays the same.

`samuel emit` answers with them before the engine is loaded (`without_engine.py`), and a server keeps them with the
project that it has opened.
"""

from __future__ import annotations

import marshal
import os
import sys
from typing import TYPE_CHECKING

from samuel.emit.fnv import fnv1a
from samuel.files import file_cache
from samuel.files.survey import ITSELF, TooManyFiles, is_as_before, signature_if_exists
from samuel.trust.repository import repository_identity, trusted_around
from samuel.version import __version__

# What follows is imported where it is used: a call that the cache answers needs none of it.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from samuel.app import App
    from samuel.events import EventType


def load(root: str, home: str, environment: str) -> Mapping[str, Any] | None:
    """What was stored about a project, if every file that decides is as it was then; else None."""
    cached = file_cache.load(_file(root, home), marshal.loads)
    if cached is None or not as_it_was(cached["files"]):
        return None
    around = trusted_around(root, _state(home), os.environ.get("PWD", ""))
    return cached if cached["stamp"] == _stamp((root, *around), home, environment) else None


def _state(home: str) -> str:
    own = os.environ.get("XDG_STATE_HOME", "")  # the specification says to ignore a relative path
    return f"{own if os.path.isabs(own) else f'{home}/.local/state'}/samuel"


def _file(root: str, home: str) -> str:
    return f"{_state(home)}/quick/{fnv1a(os.fsencode(root)):016x}"


def _stamp(roots: tuple[str, ...], home: str, environment: str) -> str:
    """What the answer depends on apart from the files of hooks and settings; `roots` are those of all projects."""
    name, trust = environment or os.environ.get("SAMUEL_ENV", ""), os.environ.get("SAMUEL_TRUST", "")
    return repr((__version__, sys.version, roots, home, name, trust, *map(repository_identity, roots)))


def as_it_was(files: Mapping[str, Any]) -> bool:
    """Whether the files, and those in the directories, are still the same. What cannot be read is not."""
    try:
        return all(is_as_before(place, before) for place, before in files.items())
    except (OSError, TooManyFiles):
        return False


def roots_of(root: Path, logical: str) -> tuple[str, ...]:
    """The root of a project and of those around it whose guards are asked, too; `logical` is the caller's PWD."""
    from samuel.base.paths import User

    return str(root), *trusted_around(str(root), str(User.from_environment().state), logical)


def deciding(roots: Sequence[str]) -> dict[str, Any]:
    """The files that decide which hooks run, apart from hook files, as they were before the engine read them."""
    from pathlib import Path

    from samuel.base.paths import CANARIES, Project, User
    from samuel.trust.repository import trust_key

    user = User.from_environment()
    files = [user.config, user.lock, user.state / CANARIES]
    for root in roots:
        project = Project(Path(root))
        files += [project.config, project.lock, user.state / "trust" / f"{trust_key(root)}.json"]
    return {str(file): {ITSELF: own} if (own := signature_if_exists(file)) else {} for file in files}


def store(app: App, environment: str, before: Mapping[str, Any]) -> None:
    """Store what is needed to answer without the engine, if the answer depends on nothing but files."""
    from samuel.base.errors import SamuelError

    root, home = str(app.paths.root), str(app.user.home)
    try:
        watched = watched_files(app)
    except SamuelError:  # a project around this one cannot be opened: only an event that can be denied says so
        return
    if watched is None or not is_settled(app):
        return
    stamp = _stamp((root, *app.enclosing_roots), home, environment)
    cached = {"files": {**watched, **before}, "stamp": stamp}
    file = _file(root, home)
    stored = file_cache.load(file, marshal.loads)
    if isinstance(stored, dict) and all(stored.get(key) == value for key, value in cached.items()):
        return  # the same files make the same filters; to compute them would resolve every chain
    file_cache.save(file, {**cached, **filters(app)}, marshal.dumps)


def watched_files(app: App) -> dict[str, Any] | None:
    """All files that the handlers of a project and the guards around it depend on; None if not only on files."""
    watched: dict[str, Any] = {}
    for project in (app, *app.enclosing):
        if (files := project.discovery.index.watched_files) is None:
            return None
        watched |= files
    return watched


def is_settled(app: App) -> bool:
    """Whether nothing is to be said about the project itself or those around it, whatever the event."""
    return not any(
        project.config.distributions or project.warnings or project.unasked_hooks()
        for project in (app, *app.enclosing)
    )


def filters(app: App) -> dict[str, Any]:
    """What `answer_unmatched` needs: the filters of each event's handlers, and the spellings of the names."""
    from samuel.app.enclosing import guard_steps
    from samuel.events.names import ALL, spellings

    rows = {}
    for name, chain in app.chains.items():
        around = {project: guard_steps(project, chain.event) for project in app.enclosing}
        steps = [*chain.steps, *(step for guards in around.values() for step in guards)]
        chains = [chain, *(project.chains[name] for project, guards in around.items() if guards)]
        if all(step.handler.match for step in steps) and not any(each.warnings for each in chains):
            rows[name] = row_of(chain.event, [step.handler.match for step in steps])
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
