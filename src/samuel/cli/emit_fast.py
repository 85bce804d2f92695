"""`samuel emit` for events that no hook handles, answered before the engine is loaded.

Agents call `samuel emit` at every step, and most steps match no hook. The filters of all hooks are cached for as
long as every file that decides about them stays the same. If none of them matches, the empty result is printed in
a fraction of the time, and nothing is recorded. In any doubt the engine decides.
"""

from __future__ import annotations

import io
import json
import marshal
import os
import sys
from pathlib import Path

from samuel.files import file_cache
from samuel.files.survey import ITSELF, TooManyFiles, signature_if_exists, survey_place
from samuel.hooks.match import holds
from samuel.paths import CANARIES, Project, User, find_root, home_directory, home_problem
from samuel.trust.repository import trust_key
from samuel.version import __version__

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.app import App
    from samuel.events import EventType

OPTIONS = ("--session", "--env")
BEGIN = "SessionStart"
TURNS = (BEGIN, "UserPromptSubmit", "SessionStop", "SessionEnd")


def answered_without_engine(arguments: list[str]) -> bool:
    """True if no hook handles the event; then the empty result was printed to stdout."""
    command = _understood(arguments)
    if command is None or home_problem(home_directory()):
        return False
    event, environment, session = command
    try:
        root, user = find_root(Path()), User.from_environment()
        cached = file_cache.load(_file(root, user), marshal.loads, _stamp(root, user, environment))
        if cached is None or not _as_it_was(cached["files"]):
            return False
        name = cached["names"][event]
        row = cached["events"][name]
    except (OSError, TypeError, KeyError):  # not ours, or not about this event
        return False
    data = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    named = b"session_id" in data or b"\\u00" in data  # or written with escapes
    in_session = named or bool(session or os.environ.get("SAMUEL_SESSION_ID"))
    recipe = os.environ.get("SAMUEL_RECIPE", "")
    if not _changes_a_session(name, in_session, root) and passes(
        data, name, row, cached["names"], str(root), recipe
    ):
        _say(row["empty"])
        return True
    sys.stdin = io.TextIOWrapper(io.BytesIO(data))  # for the engine, as if it had not been read
    return False


def _changes_a_session(name: str, in_session: bool, root: Path) -> bool:
    """Does this event change the stored session, whether hooks handle it or not?"""
    return in_session and name in TURNS and (name == BEGIN or Project(root).sessions.exists())


def _say(text: str) -> None:
    try:
        os.write(1, f"{text}\n".encode())
    except OSError:
        pass  # the reader of the output is gone


def _understood(arguments: list[str]) -> tuple[str, str, str] | None:
    """The event, the environment and the session of a plain command line; None for anything else."""
    event, *rest = arguments or [""]
    options = dict(zip(rest[::2], rest[1::2], strict=False))
    if event.startswith("-") or len(rest) % 2 or not set(rest[::2]) <= set(OPTIONS) or "" in options.values():
        return None
    return event, options.get("--env", ""), options.get("--session", "")


def passes(
    data: bytes, name: str, row: Mapping[str, Any], names: Mapping[str, str], root: str, recipe: str = ""
) -> bool:
    """Is this a valid context of the event that no filter matches? `recipe` is used if the context names none."""
    if b"\\ud" in data.lower():  # maybe half of a character, which the engine refuses
        return False
    try:
        context = json.loads(data.decode() or "{}", parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return False
    if not isinstance(context, dict) or not _typed(context, row["fields"], row["needed"]):
        return False
    for key in ("event_type", "event"):
        if not isinstance(context.get(key, name), str) or names.get(context.get(key, name)) != name:
            return False
    if context.get("recipe_name") is None and recipe:
        context["recipe_name"] = recipe
    fields = {**context, "project_root": root, "extra": {**(context.get("extra") or {}), **context}}
    return not any(holds(match, fields.get) for match in row["matches"])


def _typed(context: Mapping[str, Any], fields: Mapping[str, Any], needed: list[str]) -> bool:
    typed_fields = {key: value for key, value in context.items() if key in fields and value is not None}
    return all(key in typed_fields for key in needed) and all(
        _is(value, fields[key]) for key, value in typed_fields.items()
    )


def _is(value: Any, kind: Any) -> bool:
    """`kind` is the name of a type, or the values that are allowed."""
    name = type(value).__name__
    return name == kind or (name, kind) == ("int", "float") if isinstance(kind, str) else value in kind


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")) or number != number:
        raise ValueError(text)
    return number


def _file(root: Path, user: User) -> Path:
    return user.state / "quick" / trust_key(root)


def _stamp(root: Path, user: User, environment: str) -> str:
    """What the answer depends on apart from files."""
    name = environment or os.environ.get("SAMUEL_ENV", "")
    return repr((__version__, sys.version, str(root), str(user.home), name, os.environ.get("SAMUEL_TRUST", "")))


def _as_it_was(files: Mapping[str, Any]) -> bool:
    try:
        return all(survey_place(place) == before for place, before in files.items())
    except TooManyFiles:
        return False


# The other side: with the engine at hand


def deciding(root: Path) -> dict[str, Any]:
    """The files that decide which hooks run, apart from hook files, as they were before the engine read them."""
    project, user = Project(root), User.from_environment()
    agreed = user.state / "trust" / f"{trust_key(root)}.json"
    files = (project.config, user.config, project.lock, user.lock, agreed, user.state / CANARIES)
    return {str(file): {ITSELF: own} if (own := signature_if_exists(file)) else {} for file in files}


def remember(app: App, environment: str, before: Mapping[str, Any]) -> None:
    """Keep what is needed to answer without the engine, if the answer depends on nothing but files."""
    from samuel.events.names import ALL, spellings

    watched = app.index.watched_files
    if watched is None or app.config.distributions or app.warnings or app.unasked_hooks():
        return
    files, stamp = {**watched, **before}, _stamp(app.paths.root, app.user, environment)
    stored = file_cache.load(_file(app.paths.root, app.user), marshal.loads, stamp)
    if isinstance(stored, dict) and stored.get("files") == files:
        return  # the same files make the same filters; to compute them would resolve every chain
    rows = {
        name: row_of(chain.event, [step.handler.match for step in chain.steps])
        for name, chain in app.chains.items()
        if not chain.warnings and all(step.handler.match for step in chain.steps)
    }
    cached = {
        "files": files,
        "names": {spelling: name for name in ALL for spelling in spellings(name)},
        "events": rows,
    }
    file_cache.save(_file(app.paths.root, app.user), cached, marshal.dumps, stamp)


def row_of(event: EventType, matches: list[dict[str, Any]]) -> dict[str, Any]:
    """What is kept of one event."""
    from samuel.events.schema import plain_fields

    fields, needed = plain_fields(event.payload)
    return {
        "fields": fields,
        "needed": needed,
        "matches": matches,
        "empty": json.dumps(dict(event.composition.empty), separators=(",", ":")),
    }
