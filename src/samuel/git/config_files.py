"""The files that git takes configuration from, for one project: what a sandbox must not let its agent write.

There are three kinds. Those of the repository have fixed names below its git directory. Others are named by the
configuration: hooks, includes, programs. And a repository may appear where none was: below the project that is
found afterwards (see `search`), at its top it is kept from being made.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.git.git import Git, GitFailed
from samuel.git.settings import (
    GitSetting,
    expanded,
    files_named,
    hooks_beside,
    include_targets,
    program_settings,
)
from samuel.process import environment
from samuel.process.reason import NotRunnable

# Below the directory that all work trees of a repository share. Git takes an empty one for none.
DIRECTORIES = ("hooks", "info", "branches", "remotes", "modules", "worktrees")
FILES = {
    "config.worktree": "",
    "commondir": ".\n",  # configuration and hooks are here, and nowhere else
}
_LONGEST = 64 * 1024  # bytes of a file called `.git`
ALTERNATES = "objects/info/alternates"
_REMOVABLE = ("branches", "remotes", "modules", "worktrees")
_PATIENCE = 30.0  # the holder of an exclusive lock only removes a few empty files


@dataclass
class GitFiles:
    """What must not be written, and what has to be done for it."""

    read_only: list[str] = field(default_factory=list)
    """Files and directories to mount read-only."""
    writable: list[str] = field(default_factory=list)
    """Directories to mount for writing: where git keeps objects and refs."""
    placeholders: list[Placeholders] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)
    """Files that cannot be mounted, because they are links or do not exist: compared afterwards."""
    own: list[str] = field(default_factory=list)
    """The git directories of the project itself that an agent can write to."""
    follows_any_work_tree: bool = False
    """The user's own configuration names hooks or programs relative to whatever work tree git is in."""


def git_files(root: Path, host: Mapping[str, str], linked_trees: Iterable[str] = ()) -> GitFiles:
    """For the project at `root`, a real path. `linked_trees` are work trees of the same repository below it."""
    files = GitFiles()
    _of_repository(root, files)
    git = Git(root, environment.clean(base=host))
    if not git.available:
        return files
    try:
        settings = _with_conditional(git)
        top = git.top if git.is_repository else root
    except GitFailed as error:
        raise NotRunnable(f"git's configuration cannot be read: {error.message}", error.hint) from error
    places = [str(root), *files.own]
    _of_user(host, places, files)
    _named_by(settings, places, [str(top), *linked_trees], _home(host), files)
    files.follows_any_work_tree = any(
        _is_relative(setting) for setting in settings if not _is_below(setting.origin, places)
    )
    return files


def common_directory(git: Path) -> Path | None:
    """The directory with the repository's config and hooks: `.git`, or for a worktree that of its main tree."""
    if not git.is_file():
        return git if git.is_dir() else None
    own = linked_directory(git)
    try:
        # `.git` is a file that an agent can write. Only a directory that points back is opened for writing.
        if Path((own / "gitdir").read_text().strip()).resolve() != git.resolve():
            return None
        return (own / (own / "commondir").read_text().strip()).resolve()
    except OSError:
        return None


def own_directories(root: Path) -> list[Path]:
    """The git directories of a project that its agent needs to write to: the shared one first."""
    git = root / ".git"
    common = common_directory(git)
    if common is None:
        # Elsewhere an agent cannot write it; inside the project it was made by `git init --separate-git-dir`.
        own = linked_directory(git) if git.is_file() else root
        return [own] if own.is_dir() and own != root and own.is_relative_to(root) else []
    return [common, linked_directory(git)] if git.is_file() else [common]


def linked_directory(git: Path) -> Path:
    """Where a file called `.git` leads."""
    with git.open("rb") as file:
        return Path(leads_to(str(git), os.fsdecode(file.read(_LONGEST))))


def leads_to(git: str, content: str) -> str:
    """The same, for content that was read already. An agent may have written it: nothing in it is an error."""
    name = content.partition("\0")[0].strip().removeprefix("gitdir:").strip()
    return os.path.realpath(os.path.join(os.path.dirname(git), name))


def _of_repository(root: Path, files: GitFiles) -> None:
    git = root / ".git"
    if not os.path.lexists(git) or (git.is_dir() and not git.is_symlink() and not any(git.iterdir())):
        # An empty directory is not a repository for git, which goes on above it as before.
        files.placeholders.append(Placeholders(root, (".git",)))
        files.read_only.append(str(git))
        return
    if git.is_symlink():
        files.read_only.append(str(git))  # which a sandbox refuses
        return
    if git.is_file():
        files.read_only.append(str(git))
    for position, directory in enumerate(own_directories(root)):
        (_of_linked_tree if position else _of_common_directory)(directory, files)


def _of_linked_tree(own: Path, files: GitFiles) -> None:
    files.placeholders.append(Placeholders(own, (), {"config.worktree": ""}))
    files.own.append(str(own))
    files.writable.append(str(own))
    files.read_only += (str(own / name) for name in ("gitdir", "commondir", "config.worktree"))


def _of_common_directory(common: Path, files: GitFiles) -> None:
    for name in ("hooks", "info"):
        (common / name).mkdir(exist_ok=True)
    (common / "config").touch()
    names = dict(FILES)
    if _is_real(common / "objects") and _is_real(common / "objects" / "info", missing=True):
        (common / "objects" / "info").mkdir(exist_ok=True)
        names[ALTERNATES] = ""
    files.placeholders.append(Placeholders(common, _REMOVABLE, names))
    files.own.append(str(common))
    files.writable.append(str(common))
    files.read_only += (str(common / name) for name in ("config", *DIRECTORIES, *names))


def _with_conditional(git: Git) -> list[GitSetting]:
    """All settings, also those of included files whose condition does not hold now: an agent may make it hold."""
    settings = git.settings()
    home, files_read = git.home, {setting.origin for setting in settings}
    waiting = include_targets(settings, home)
    while waiting:
        file = waiting.pop()
        if file not in files_read and os.path.isfile(file):
            files_read.add(file)
            more = git.settings(file)
            settings += more
            waiting += include_targets(more, home)
    return settings


def _of_user(host: Mapping[str, str], places: Sequence[str], files: GitFiles) -> None:
    """The user's own configuration, where their home is the project or inside of it."""
    home = Path(_home(host))
    shared = Path(host.get("XDG_CONFIG_HOME") or home / ".config")
    for path in (home / ".gitconfig", home / ".config" / "git" / "config", shared / "git" / "config"):
        _keep(str(path), places, files)


def _named_by(
    settings: Sequence[GitSetting], places: Sequence[str], trees: Sequence[str], home: str, files: GitFiles
) -> None:
    for setting in settings:
        _keep(setting.origin, places, files)
    for path in include_targets(settings, home):
        _keep(path, places, files)
    for setting in settings:
        if setting.key == "core.hookspath" and setting.value not in ("", os.devnull):
            for tree in trees:
                _keep_hooks(os.path.join(tree, expanded(setting.value, home)), places, files)
    for setting in program_settings(settings):
        for tree in trees:
            for path in files_named(setting.value, Path(tree), home):
                if not os.path.isdir(path):
                    _keep(path, places, files)


def _keep(path: str, places: Sequence[str], files: GitFiles) -> None:
    """One file: mounted if it is one, else compared afterwards. What it leads to counts as well."""
    for name in dict.fromkeys((os.path.normpath(path), os.path.realpath(path))):
        if not _is_below(name, places):
            continue
        mounted = os.path.isfile(name) and not os.path.islink(name)
        (files.read_only if mounted else files.watched).append(name)


def _keep_hooks(path: str, places: Sequence[str], files: GitFiles) -> None:
    path = str(hooks_beside(Path(os.path.normpath(path))))
    for name in dict.fromkeys((path, os.path.realpath(path))):
        if any(name == place or _is_below(place, [name]) for place in places):
            raise NotRunnable(
                f"`core.hooksPath` is `{name}`, and a sandbox cannot keep an agent from writing hooks there",
                "move the hooks to a directory of their own",
            )
        for place in places:
            if _is_below(name, [place]):
                missing = [part for part in _between(place, name) if not os.path.isdir(os.path.join(place, part))]
                empty = os.path.isdir(name) and not os.listdir(name)
                parts = missing or ([os.path.relpath(name, place)] if empty else [])
                files.placeholders.append(Placeholders(Path(place), parts))
                files.read_only.append(name)
                break


def _between(place: str, name: str) -> Iterator[str]:
    """The relative names from below a place down to a path in it."""
    parts = os.path.relpath(name, place).split("/")
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _is_relative(setting: GitSetting) -> bool:
    """Does it name something in whatever work tree git happens to be?"""
    word = setting.value.split(" ")[0].lstrip("!")
    if setting.key != "core.hookspath" and not (program_settings([setting]) and "/" in word):
        return False
    return bool(word) and not word.startswith(("/", "~"))


def _is_below(path: str, places: Iterable[str]) -> bool:
    return any(path.startswith(f"{place.rstrip('/')}/") for place in places)


def _is_real(path: Path, *, missing: bool = False) -> bool:
    return (path.is_dir() and not path.is_symlink()) or (missing and not os.path.lexists(path))


def _home(host: Mapping[str, str]) -> str:
    return host.get("HOME") or "/"


class Placeholders(NamedTuple):
    """What must exist below a directory while sandboxes are around, so that it can be mounted read-only in them.

    What does not exist cannot be mounted, and an agent could create it: git would take configuration from
    there. So an empty one is put in its place. Removing a mount point detaches the mount in every other
    sandbox, which leaves the name to the agents there. So all sandboxes of a directory hold a shared lock on
    it, and only the last one removes. A Samuel that is killed loses its lock, and the next one removes what
    was left. A later name may lie inside an earlier one.
    """

    place: Path
    directories: Sequence[str] = ()
    files: Mapping[str, str] = MappingProxyType({})
    """By name, with what is in it."""


class Holder:
    """One sandbox among those that hold a directory."""

    def __init__(self, fd: int, first: bool) -> None:
        self._fd = fd
        self.first = first
        """Whether no other sandbox held the directory when this one began."""

    def becomes_last(self) -> bool:
        """Whether no other sandbox holds it now; then none can until this one is closed."""
        return _lock(self._fd, fcntl.LOCK_EX)


@contextmanager
def hold_placeholders(placeholders: Placeholders) -> Iterator[Holder]:
    """Make what is missing, and remove what is still empty when the last holder leaves."""
    fd = os.open(placeholders.place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        holder = Holder(fd, first=_lock(fd, fcntl.LOCK_EX))
        _share(fd, placeholders.place)
        _make(placeholders)
        try:
            yield holder
        finally:
            if holder.becomes_last():
                _remove(placeholders)
    finally:
        os.close(fd)


def _make(placeholders: Placeholders) -> None:
    try:
        for name in placeholders.directories:
            with suppress(FileExistsError):
                (placeholders.place / name).mkdir()
        for name, content in placeholders.files.items():
            with suppress(FileExistsError), open(placeholders.place / name, "x") as file:
                file.write(content)
    except OSError as error:
        raise NotRunnable(
            f"`{error.filename}` cannot be made, so an agent cannot be kept from making it: {error.strerror}"
        ) from error


def _remove(placeholders: Placeholders) -> None:
    for name, content in placeholders.files.items():
        path = placeholders.place / name
        with suppress(OSError, UnicodeDecodeError):
            if not path.is_symlink() and path.read_text() == content:
                path.unlink()
    for name in reversed(placeholders.directories):
        with suppress(OSError):  # it is not empty any more
            (placeholders.place / name).rmdir()


def _share(fd: int, place: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while not _lock(fd, fcntl.LOCK_SH):
        if time.monotonic() > until:
            raise NotRunnable(f"another process keeps `{place}` locked", "end that process: `fuser` names it")
        time.sleep(0.02)


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: one is as good as alone at the start, and never the last
        return kind == fcntl.LOCK_SH
    return True
