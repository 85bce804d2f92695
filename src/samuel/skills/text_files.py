"""Where texts for agents lie, in which precedence, and what they are called: for skills, and for recipes as well.

A text of a clone goes to an agent, so a link in a project or a plugin may not lead out of it. One that cannot be
read is listed with the reason and hides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from samuel import paths
from samuel.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.files.frontmatter import LARGEST, FrontMatter, parse
from samuel.files.inside import read_inside
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.nearest import did_you_mean
from samuel.plugins.installed import LOCAL, InstalledPlugin
from samuel.printable import file_name

MOST = 500  # texts on one shelf
DEEPEST = 6  # directories below a shelf

_OF_PLUGIN = {True: Origin.PROJECT_PLUGIN, False: Origin.USER_PLUGIN}


class TextDirectory(NamedTuple):
    base: Path
    """What a link on it may not lead out of, unless it is the user's own."""
    folder: str
    origin: Origin
    prefixes: tuple[str, ...] = ("",)
    """What its texts are called by: `org/repo/`. The first is the one that is shown."""


class TextFile(NamedTuple):
    """One file, read; or the reason why it could not be."""

    names: tuple[str, ...]
    path: Path
    origin: Origin
    document: FrontMatter | None = None
    problem: Problem | None = None


NameOf = Callable[[tuple[str, ...]], str]
"""From the parts of a path below a shelf to a name; "" for a file that is no text of this kind."""


def shelves(folder: str, root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[TextDirectory]:
    """The highest precedence first: the project's own, its plugins', the user's own, their plugins'."""
    local = [plugin for plugin in plugins if plugin.location == LOCAL]
    others = [plugin for plugin in plugins if plugin.location != LOCAL]
    found = [*_own(folder, root, Origin.PROJECT), *_of_plugins(folder, local)]
    if home.resolve() != root.resolve():
        found += _own(folder, home, Origin.USER)
    return [*found, *_of_plugins(folder, others)]


def texts(shelf: TextDirectory, name_of: NameOf, deepest: int = DEEPEST) -> list[TextFile]:
    """Everything on one shelf, by name."""
    top = shelf.base / shelf.folder
    found: list[TextFile] = []
    if not _may_enter(shelf, top):
        return [_unread(shelf, shelf.folder, top, "it is a link that leads out", "put a directory in its place")]
    for parts in _files(shelf, top, (), deepest):
        name = name_of(parts)
        if not name:
            continue
        if len(found) == MOST:
            what = f"more than {MOST} lie in `{top}`; this one and those after it are left out"
            found.append(_unread(shelf, name, top.joinpath(*parts), what, "keep fewer"))
            break
        found.append(_text(shelf, name, top.joinpath(*parts)))
    return found


class ShownText(Protocol):
    """What skills and recipes have in common."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def path(self) -> Path: ...
    @property
    def status(self) -> HandlerStatus: ...
    @property
    def reason(self) -> str: ...


One = TypeVar("One", bound=ShownText)


def shadowing(found: Iterable[ShownText]) -> list[str]:
    """For each of these, highest precedence first: why it is not the one of its name; "" if it is."""
    first: dict[str, Path] = {}
    reasons = []
    for one in found:
        name, works = one.names[0], one.status is HandlerStatus.ACTIVE
        hidden = works and name in first
        reasons.append(f"`{first[name]}` has the same name and comes first" if hidden else "")
        if works:
            first.setdefault(name, one.path)
    return reasons


def choose(found: Sequence[One], asked: str, kind: str) -> One:
    """The one of this name. The name is only ever compared: it is never made into a path."""
    if not asked.isprintable() or any(part in ("", ".", "..") for part in asked.split("/")):
        raise UsageError(f"{asked!r} is no name of a {kind}", f"`samuel {kind} list` shows the names")
    for name in (asked, asked.replace("@", "/", 1)):
        known = [one for one in found if name in one.names]
        if working := next((one for one in known if one.status is HandlerStatus.ACTIVE), None):
            return working
        if known:
            raise SamuelError(f"the {kind} `{asked}` cannot be used: {known[0].reason}")
    names = (name for one in found for name in one.names)
    hint = did_you_mean(asked, names, f"`samuel {kind} list` shows those that are there")
    raise UsageError(f"there is no {kind} `{asked}`", hint)


def _own(folder: str, base: Path, origin: Origin) -> list[TextDirectory]:
    return [TextDirectory(base, f"{place}/{folder}", origin) for place in paths.TEXT_HOMES]


def _of_plugins(folder: str, plugins: Iterable[InstalledPlugin]) -> list[TextDirectory]:
    return [
        TextDirectory(
            plugin.directory,
            folder,
            _OF_PLUGIN[plugin.location == LOCAL],
            tuple(dict.fromkeys((f"{plugin.name}/", f"{plugin.title}/"))),
        )
        for plugin in plugins
    ]


def _files(
    shelf: TextDirectory, directory: Path, parts: tuple[str, ...], deepest: int
) -> Iterator[tuple[str, ...]]:
    """The files below a directory, by name, as the parts of their paths."""
    try:
        names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for name in names:
        path = directory / name
        if not os.path.isdir(path):  # which never raises
            yield (*parts, name)
        elif len(parts) + 1 < deepest and _may_enter(shelf, path):
            yield from _files(shelf, path, (*parts, name), deepest)


def _may_enter(shelf: TextDirectory, path: Path) -> bool:
    return shelf.origin is Origin.USER or _real(path).is_relative_to(_real(shelf.base))


def _text(shelf: TextDirectory, name: str, path: Path) -> TextFile:
    if not name.isprintable() or name != file_name(name):
        return _unread(shelf, name, path, "its name has characters that cannot be shown", "rename it")
    try:
        document = parse(_read(shelf, path), str(path))
    except ConfigError as error:
        return TextFile(_names(shelf, name), path, shelf.origin, problem=error.problems[0])
    except (SamuelError, OSError) as error:
        why = error.message if isinstance(error, SamuelError) else f"it cannot be read: {error.strerror}"
        return _unread(shelf, name, path, why)
    return TextFile(_names(shelf, name), path, shelf.origin, document)


def _read(shelf: TextDirectory, path: Path) -> bytes:
    """Links are followed first and then no more, so that what was checked is what is read."""
    real = _real(path)
    top = real.parent if shelf.origin is Origin.USER else _real(shelf.base)
    if not real.is_relative_to(top):
        raise SamuelError("it is a link that leads out")
    return read_inside(top, *real.relative_to(top).parts, limit=LARGEST)


def _real(path: Path) -> Path:
    # Not Path.resolve: before Python 3.13 it raises on a loop of links.
    return Path(os.path.realpath(path))


def _unread(shelf: TextDirectory, name: str, path: Path, what: str, hint: str = "") -> TextFile:
    return TextFile(
        _names(shelf, file_name(name)), path, shelf.origin, problem=Problem(what, file_name(str(path)), 0, hint)
    )


def _names(shelf: TextDirectory, name: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{name}" for prefix in shelf.prefixes)
