"""Reach files below a root without ever being led out of it.

A path checked and then used can be swapped in between, so nothing here checks first. Each component is opened
relative to the directory before it and links are not followed: what was opened is what was checked. The root
itself is the caller's word and may be reached through links; pass the untrusted rest as parts.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from samuel.base.errors import SamuelError, UnsafePath
from samuel.files.regular import read_at_most

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REFUSED = {
    errno.ELOOP: "a symbolic link",
    errno.ENOTDIR: "a symbolic link, or not a directory",  # Linux has one error for both
    errno.ENXIO: "a pipe, a socket or a device",
}


def open_inside(root: Path, *parts: str, flags: int, mode: int = 0o600) -> int:
    """Open the regular file or directory at root/parts. A part may be several names: `"run/journal"`."""
    names = _components(parts)
    if not names:
        raise UnsafePath(f"the path below `{root}` is empty", "give at least one name")
    path = root.joinpath(*names)
    directory = _walk(root, names[:-1])
    try:
        # O_NONBLOCK: opening a named pipe must not hang; on a regular file it means nothing.
        fd = _open(directory, path, flags | os.O_NONBLOCK, mode)
    finally:
        os.close(directory)
    kind = os.fstat(fd).st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        os.close(fd)
        raise _refusal(path, errno.ENXIO)
    return fd


def make_dirs_inside(root: Path, *parts: str, mode: int = 0o700) -> int:
    """Open the directory at root/parts, creating what is missing below the root."""
    return _walk(root, _components(parts), make=mode)


def read_inside(root: Path, *parts: str, limit: int) -> bytes:
    """The whole file at root/parts. More than `limit` bytes are refused rather than cut."""
    fd = open_inside(root, *parts, flags=os.O_RDONLY)
    try:
        data = read_at_most(fd, limit + 1)
    except IsADirectoryError as error:  # which knows no name
        raise IsADirectoryError(error.errno, error.strerror, str(root.joinpath(*parts))) from None
    finally:
        os.close(fd)
    if len(data) > limit:
        raise SamuelError(f"`{root.joinpath(*parts)}` is larger than {limit} bytes", "make it smaller")
    return data


def refuse_links(root: Path, *names: str) -> None:
    """Raise UnsafePath if a root/name exists but is a symbolic link, is behind one, or is not a directory."""
    for name in names:
        with suppress(FileNotFoundError):
            os.close(_walk(root, _components([name])))


def exists_at(directory: int, name: str) -> bool:
    """Whether an opened directory has an entry of this name, be it a link that leads nowhere."""
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=directory, follow_symlinks=False)
        return True
    return False


def is_inside(path: Path, root: Path) -> bool:
    """Whether `path`, links followed, is `root` or below it: for choosing and explaining, not as a guard."""
    # Not Path.resolve: before Python 3.13 it raises on a loop of links.
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _components(parts: Sequence[str]) -> list[str]:
    # Splitting makes an absolute part, an empty one and a doubled slash the same mistake: an empty component.
    names = [name for part in parts for name in part.split("/")]
    for name in names:
        if name in ("", ".", "..") or "\0" in name:
            raise UnsafePath(
                f"the path {'/'.join(parts)!r} has the component {name!r}",
                "give a relative path of plain names, without `.`, `..`, empty components or NUL",
            )
    return names


def _walk(root: Path, names: Sequence[str], make: int | None = None) -> int:
    path, directory = root, os.open(root, _DIRECTORY)
    for name in names:
        path, parent = path / name, directory
        try:
            if make is not None:
                with suppress(FileExistsError):
                    os.mkdir(name, make, dir_fd=parent)
            directory = _open(parent, path, _DIRECTORY)
        finally:
            os.close(parent)
    return directory


def _open(directory: int, path: Path, flags: int, mode: int = 0) -> int:
    """Open the last component of `path`, whose others `directory` stands for; the rest is for the message."""
    try:
        return os.open(path.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=directory)
    except OSError as error:
        if error.errno in _REFUSED:
            raise _refusal(path, error.errno) from error
        error.filename = str(path)  # its last name alone would say little
        raise


def _refusal(path: Path, code: int) -> UnsafePath:
    return UnsafePath(f"`{path}` is {_REFUSED[code]}", "replace it with a real file or directory")
