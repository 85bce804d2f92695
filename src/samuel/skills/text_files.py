"""The directories and files that skills and recipes are read from, in which precedence and under which names.

Their text goes to an agent, so a symbolic link in a project or a plugin may not lead out of it. A file that cannot
be read is listed with the reason and shadows nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeVar

from samuel.base import paths
from samuel.base.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import file_name
from samuel.files.frontmatter import LARGEST, FrontMatter, parse
from samuel.files.inside import read_inside
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.plugins.installed import LOCAL, InstalledPlugin

SKILLS = "skills"  # the directory that the skills of other agents are in, too
DEEPEST = 6  # levels of directories


class TextDirectory(NamedTuple):
    base: Path
    """A link may not lead out of it, unless the directory is the user's own."""
    folder: str
    origin: Origin
    prefixes: tuple[str, ...] = ("",)
    """What the names of its texts begin with, as `org/repo/`. The first one is displayed."""


class TextFile(NamedTuple):
    """The content of a file, or the reason why it could not be read."""

    names: tuple[str, ...]
    path: Path
    origin: Origin
    document: FrontMatter | None = None
    problem: Problem | None = None


NameOf = Callable[[tuple[str, ...]], str]
"""The name of a text, from the parts of its path below the directory; "" for a file of another kind."""


def text_directories(
    folder: str, root: Path, home: Path, plugins: Sequence[InstalledPlugin]
) -> list[TextDirectory]:
    """The directories of one kind of text, the highest precedence first.

    The project's own, its plugins', the user's own, their plugins'.
    """
    local = [plugin for plugin in plugins if plugin.location == LOCAL]
    others = [plugin for plugin in plugins if plugin.location != LOCAL]
    directories = [*_own(folder, root, Origin.PROJECT), *_of_plugins(folder, local)]
    if home.resolve() != root.resolve():
        directories += _own(folder, home, Origin.USER)
    return [*directories, *_of_plugins(folder, others)]


def read_directory(
    directory: TextDirectory, name_of: NameOf, deepest: int = DEEPEST, *, by_line: bool = False
) -> list[TextFile]:
    """Every text of one directory, by name. `by_line`: see `frontmatter.parse`."""
    top = directory.base / directory.folder
    text_files: list[TextFile] = []
    if not _may_enter(directory, top):
        what = "it is a symbolic link that leads out"
        return [_unread(directory, directory.folder, top, what, "replace it by a directory")]
    for parts in _files(directory, top, (), deepest):
        name = name_of(parts)
        if not name:
            continue
        text_files.append(_text(directory, name, top.joinpath(*parts), by_line=by_line))
    return text_files


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
    def _replace(self, *, status: HandlerStatus, reason: str) -> Self: ...


AnyText = TypeVar("AnyText", bound=ShownText)


def shadowed(texts: Iterable[AnyText]) -> list[AnyText]:
    """The texts, highest precedence first, with the reason at each that one of the same name comes before."""
    first: dict[str, Path] = {}
    result = []
    for text in texts:
        name = text.names[0]
        if text.status is HandlerStatus.ACTIVE and name in first:
            why = f"`{first[name]}` has the same name and comes first"
            text = text._replace(status=HandlerStatus.SHADOWED, reason=why)
        elif text.status is HandlerStatus.ACTIVE:
            first[name] = text.path
        result.append(text)
    return result


def choose(texts: Sequence[AnyText], wanted_name: str, kind: str) -> AnyText:
    """The text of this name. The name is only ever compared: it never becomes part of a path."""
    if not wanted_name.isprintable() or any(part in ("", ".", "..") for part in wanted_name.split("/")):
        raise UsageError(f"{wanted_name!r} is not a valid {kind} name", f"`samuel {kind} list` lists them")
    for name in (wanted_name, wanted_name.replace("@", "/", 1)):
        same_name = [text for text in texts if name in text.names]
        if working := next((text for text in same_name if text.status is HandlerStatus.ACTIVE), None):
            return working
        if same_name:
            raise SamuelError(f"the {kind} `{wanted_name}` cannot be used: {same_name[0].reason}")
    names = (name for text in texts for name in text.names)
    hint = did_you_mean(wanted_name, names, f"`samuel {kind} list` lists them")
    raise UsageError(f"there is no {kind} `{wanted_name}`", hint)


def _own(folder: str, base: Path, origin: Origin) -> list[TextDirectory]:
    homes = paths.SKILL_HOMES if folder == SKILLS else paths.TEXT_HOMES
    return [TextDirectory(base, f"{place}/{folder}", origin) for place in homes]


def _of_plugins(folder: str, plugins: Iterable[InstalledPlugin]) -> list[TextDirectory]:
    directories = []
    for plugin in plugins:
        origin = Origin.PROJECT_PLUGIN if plugin.location == LOCAL else Origin.USER_PLUGIN
        prefixes = tuple(dict.fromkeys((f"{plugin.name}/", f"{plugin.title}/")))
        directories.append(TextDirectory(plugin.directory, folder, origin, prefixes))
    return directories


def _files(
    directory: TextDirectory, folder: Path, parts: tuple[str, ...], deepest: int
) -> Iterator[tuple[str, ...]]:
    """The files below `folder`, by name, as the parts of their paths."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for name in names:
        path = folder / name
        if not os.path.isdir(path):  # never raises
            yield (*parts, name)
        elif len(parts) + 1 < deepest and _may_enter(directory, path):
            yield from _files(directory, path, (*parts, name), deepest)


def _may_enter(directory: TextDirectory, path: Path) -> bool:
    return directory.origin is Origin.USER or _real(path).is_relative_to(_real(directory.base))


def _text(directory: TextDirectory, name: str, path: Path, *, by_line: bool = False) -> TextFile:
    if not name.isprintable() or name != file_name(name):
        return _unread(directory, name, path, "its name has characters that cannot be shown", "rename it")
    try:
        document = parse(_read(directory, path), str(path), by_line=by_line)
    except ConfigError as error:
        return TextFile(_names(directory, name), path, directory.origin, problem=error.problems[0])
    except (SamuelError, OSError) as error:
        why = error.message if isinstance(error, SamuelError) else f"it cannot be read: {error.strerror}"
        return _unread(directory, name, path, why)
    return TextFile(_names(directory, name), path, directory.origin, document)


def _read(directory: TextDirectory, path: Path) -> bytes:
    """The content of a file. Links are resolved first and not followed again: what was checked is read."""
    real = _real(path)
    top = real.parent if directory.origin is Origin.USER else _real(directory.base)
    if not real.is_relative_to(top):
        raise SamuelError("it is a symbolic link that leads out")
    return read_inside(top, *real.relative_to(top).parts, limit=LARGEST)


def _real(path: Path) -> Path:
    # Not Path.resolve: before Python 3.13 it raises on a loop of links.
    return Path(os.path.realpath(path))


def _unread(directory: TextDirectory, name: str, path: Path, what: str, hint: str = "") -> TextFile:
    problem = Problem(what, file_name(str(path)), 0, hint)
    return TextFile(_names(directory, file_name(name)), path, directory.origin, problem=problem)


def _names(directory: TextDirectory, name: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{name}" for prefix in directory.prefixes)
