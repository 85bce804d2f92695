"""The places that walls let through: opened here, one component at a time, before anything is started.

A path that was looked at can be another one when it is used. So each granted path is opened without following
links, and what is let through the walls is the open descriptor. Swapping the path afterwards changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.errors import UnsafePath
from samuel.files.inside import make_dirs_inside, open_inside
from samuel.git import config_files
from samuel.process.reason import NotGranted, NotRunnable

# What every program needs to start at all. Anything else of the machine is left out: other projects, other
# people's files, and /run, where the user's other programs listen on sockets.
MACHINE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu", "/run/current-system", "/var/lib/ca-certificates"),
)
# Readable for root, who needs none of it.
_SECRETS = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh", "/etc/ssl/private")

# What is written here decides what runs outside of the walls later.
PROTECTED = (".git", ".kodelet", paths.HOME, paths.CONFIG, paths.LOCK, ".system/hooks")

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC


class GrantedPaths(NamedTuple):
    """What a plugin was granted. Paths are relative to the project; `.` is all of it."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    network: bool = False


class WallPlaces(NamedTuple):
    """What a plugin's process always has around it."""

    root: str
    """The project, and its working directory. It sees of it what it was granted."""
    own: str
    """The plugin's own directory, to read."""
    data: str = ""
    """Its data_dir, to write; made if it is missing. It is in the project, so a clone may have brought it."""
    home: str = ""
    """A directory outside the project, to write: what its programs keep for themselves."""


class OpenedPath(NamedTuple):
    """One place that is let through, as it was when it was opened."""

    path: str
    fd: int
    writable: bool


@contextmanager
def opened(allowed: GrantedPaths, inside: WallPlaces) -> Iterator[list[OpenedPath]]:
    """Everything of the user's that is let through, parents first. Raises NotGranted for what must not be.

    A door that cannot be written, inside of one that can, takes the right back for what lies behind it.
    """
    root = os.path.realpath(inside.root)
    with ExitStack() as held:

        def door(path: str, fd: int, writable: bool) -> OpenedPath:
            held.callback(os.close, fd)
            return OpenedPath(path, fd, writable)

        doors = [door(os.path.realpath(inside.own), _own(inside.own), False)]
        if inside.data:
            if ".." in inside.data.split("/"):
                raise NotGranted(f"`{inside.data}` leaves the place it must stay in")
            data = os.path.join(root, os.path.relpath(inside.data, inside.root))
            doors.append(door(_under(root, data), _writable_directory(root, data), True))
        if inside.home:
            doors.append(door(os.path.realpath(inside.home), _writable_directory("", inside.home), True))
        write = tuple(dict.fromkeys(allowed.write))
        read = tuple(path for path in dict.fromkeys(allowed.read) if not _covered(path, write))
        for granted, writable in (*((path, True) for path in write), *((path, False) for path in read)):
            fd = _granted(root, granted, writable)
            if fd is not None:
                doors.append(door(_under(root, granted), fd, writable))
        if "." in (*read, *write) and (common := config_files.common_directory(Path(root, ".git"))):
            # Of a worktree it is elsewhere, and without it git knows nothing.
            doors.append(door(str(common), os.open(common, _OPEN_FLAGS | os.O_DIRECTORY), False))
        doors += (door(*read_only) for read_only in _read_only_inside(root, doors))
        yield sorted(
            {opened_path.path: opened_path for opened_path in doors}.values(),
            key=lambda opened_path: opened_path.path.split("/"),
        )


@cache
def machine() -> tuple[str, ...]:
    return tuple(path for path in MACHINE if os.path.lexists(path))


def shut(root: str, around: Iterable[str]) -> list[str]:
    """What must not be seen although it lies in a place that can be: `around` are those places."""
    hidden = [os.path.realpath(root), os.path.realpath(os.path.expanduser("~")), *_secrets()]
    return [path for path in dict.fromkeys(hidden) if any(below(path, place) for place in around)]


def below(path: str, place: str) -> bool:
    """Is an absolute path strictly inside a directory?"""
    return path.startswith(f"{place.rstrip('/')}/") and path != place


@cache
def _secrets() -> tuple[str, ...]:
    return tuple(path for path in _SECRETS if os.path.exists(path) and os.access(path, os.R_OK))


def _under(root: str, path: str) -> str:
    return os.path.normpath(os.path.join(root, path))


def _covered(path: str, granted: Sequence[str]) -> bool:
    name = path.rstrip("/")
    return any(place == "." or f"{name}/".startswith(f"{place.rstrip('/')}/") for place in granted)


def _own(path: str) -> int:
    try:
        return os.open(path, _OPEN_FLAGS | os.O_DIRECTORY)
    except OSError as error:
        raise NotRunnable(f"the plugin's directory `{path}` cannot be opened: {error.strerror}") from error


def _writable_directory(root: str, path: str) -> int:
    """A directory that is the plugin's to write. Below the project, a clone may have put a link in its place."""
    base, rest = Path(path).parent, Path(path).name
    if root and below(_under(root, path), root):
        base, rest = Path(root), os.path.relpath(_under(root, path), root)
    try:
        return make_dirs_inside(base, rest)
    except UnsafePath as error:
        raise NotGranted(error.message, error.hint) from error
    except OSError as error:
        raise NotGranted(f"`{path}` cannot be made: {error.strerror}") from error


def _granted(root: str, granted: str, writable: bool) -> int | None:
    """The place a plugin was granted, opened; None if it is not there."""
    name = granted.rstrip("/") or granted
    try:
        if name == ".":
            return os.open(root, _OPEN_FLAGS | os.O_DIRECTORY)
        if writable and _covered(name, PROTECTED):
            raise NotGranted(f"`{granted}` can never be written by a plugin, whatever it was granted")
        if writable and granted.endswith("/"):
            os.close(make_dirs_inside(Path(root), name, mode=0o755))
        fd = open_inside(Path(root), name, flags=_OPEN_FLAGS)
    except FileNotFoundError:
        return None
    except UnsafePath as error:
        raise NotGranted(f"it was granted `{granted}`, but {error.message}", error.hint) from error
    except OSError as error:
        raise NotGranted(f"it was granted `{granted}`, which cannot be opened: {error.strerror}") from error
    status = os.fstat(fd)
    if writable and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        os.close(fd)
        raise NotGranted(
            f"it was granted `{granted}`, which is a hard link: the same file has another name elsewhere",
            "replace it with a copy",
        )
    return fd


def _read_only_inside(root: str, doors: Sequence[OpenedPath]) -> Iterator[tuple[str, int, bool]]:
    """What stays read-only inside of a place that may be written: where it is, opened.

    A mounted path cannot be renamed, but its parents can, with it: so they are mounted onto themselves.
    """
    open_to_write = {door.path for door in doors if door.writable}
    for name in (*PROTECTED, *_of_the_user(root)):
        path = os.path.join(root, name)
        if not any(below(path, place) for place in open_to_write):
            continue
        try:
            fd = open_inside(Path(root), name, flags=_OPEN_FLAGS)
        except FileNotFoundError:
            continue
        except UnsafePath as error:
            raise NotGranted(error.message, error.hint) from error
        except OSError as error:
            raise NotGranted(f"`{path}` cannot be opened: {error.strerror}") from error
        yield path, fd, False
        for parent in list(Path(name).parents)[:-1]:
            if (place := os.path.join(root, parent)) not in open_to_write:
                open_to_write.add(place)
                yield place, open_inside(Path(root), str(parent), flags=_OPEN_FLAGS), True


def _of_the_user(root: str) -> Iterator[str]:
    """What the user agreed to, and what runs for them, if the project is their home or around it."""
    user = paths.User.from_environment()
    own = (user.state, user.cache, *(user.home / place for place in (paths.HOME, ".kodelet")))
    for place in own:
        if below(real := os.path.realpath(place), root):
            yield os.path.relpath(real, root)
