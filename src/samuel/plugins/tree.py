"""Writes the files of a plugin into a directory: names and sizes are checked, and no link is followed.

Files are written first and links last, so no file is ever written through a link. The targets of links are checked
when all files exist (`contents.escapes`).
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.base.printable import file_name
from samuel.files.atomic import errors_naming
from samuel.files.inside import make_dirs_inside, open_inside
from samuel.files.survey import MOST_FILES
from samuel.plugins.contents import GIT, MOST_BYTES, walk

SKIPPED = (GIT, "__pycache__")
MAX_NAME = 255
CHUNK = 1 << 20


class TreeItem(NamedTuple):
    path: str
    mode: int  # S_IFREG with 0644 or 0755, or S_IFLNK
    size: int


def check(items: Iterable[TreeItem], place: str, hint: str = "") -> None:
    """Refuse all files that must not be installed, in one ConfigError. `place` is the name in its messages."""
    items = list(items)
    problems = [Problem(why, file_name(item.path)) for item in items if (why := _objection(item.path))]
    problems += _collisions(item.path for item in items)
    if len(items) > MOST_FILES:
        problems.append(Problem(f"it holds more than {MOST_FILES} files", place, hint=hint))
    if sum(item.size for item in items) > MOST_BYTES:
        problems.append(Problem(f"its files are larger than {MOST_BYTES} bytes together", place, hint=hint))
    if problems:
        raise ConfigError(problems)


def write_file(root: Path, item: TreeItem, chunks: Iterable[bytes]) -> None:
    directory, name = _parent(root, item.path)
    try:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        with errors_naming(root / item.path), open(fd, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            os.fchmod(fd, stat.S_IMODE(item.mode))
    finally:
        os.close(directory)


def write_link(root: Path, path: str, target: str) -> None:
    directory, name = _parent(root, path)
    try:
        os.symlink(target, name, dir_fd=directory)
    finally:
        os.close(directory)


def copy(origin: Path, into: Path) -> None:
    """Copy a directory without its `.git`. No link is followed; pipes, sockets and devices are refused."""
    hint = f"`{origin}@HEAD` takes only what is committed" if (origin / GIT).exists() else ""
    # One more than allowed is enough to refuse it.
    items = list(islice(_survey(str(origin)), MOST_FILES + 1))
    check(items, file_name(str(origin)), hint)
    into.mkdir()
    for item in items:
        if stat.S_ISREG(item.mode):
            write_file(into, item, _read(origin, item))
    for item in items:
        if stat.S_ISLNK(item.mode):
            write_link(into, item.path, os.readlink(origin / item.path))


def _survey(origin: str) -> Iterator[TreeItem]:
    for path, status in walk(origin, lambda path: os.path.basename(path) in SKIPPED):
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFDIR:
            continue
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            raise ConfigError([Problem("it is a pipe, a socket or a device", file_name(path))])
        executable = 0o755 if status.st_mode & 0o111 else 0o644
        yield TreeItem(path, kind | executable if kind == stat.S_IFREG else kind, status.st_size)


def _read(origin: Path, item: TreeItem) -> Iterator[bytes]:
    """The content of a file; SamuelError if its size has changed."""
    with open(open_inside(origin, item.path, flags=os.O_RDONLY), "rb") as stream:
        left = item.size
        while left and (chunk := stream.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
        if left or stream.read(1):
            raise SamuelError(f"`{origin / item.path}` changed while it was copied", "try again")


def _parent(root: Path, path: str) -> tuple[int, str]:
    parent, name = os.path.split(path)
    return make_dirs_inside(root, *([parent] if parent else []), mode=0o755), name


def _objection(path: str) -> str:
    for name in path.split("/"):
        if name in ("", ".", ".."):
            return "its path leaves the plugin"
        if name != file_name(name):
            return "its name is not UTF-8"
        if not name.isprintable() or "\\" in name:
            return "its name holds control characters or backslashes"
        if len(name.encode()) > MAX_NAME:
            return "its name is too long"
        # Spellings of `.git` on other systems: git would obey a repository in there.
        if name.casefold().rstrip(". ") == GIT or name.casefold().startswith("git~"):
            return f"nothing in a plugin may be called `{GIT}`"
    return ""


def _collisions(paths: Iterable[str]) -> list[Problem]:
    """Paths that are the same where case or accents do not count, or that are both a file and a directory."""
    files: dict[str, str] = {}
    directories: dict[str, str] = {}
    problems = []
    for path in paths:
        parents = path.split("/")[:-1]
        for depth in range(1, len(parents) + 1):
            parent = "/".join(parents[:depth])
            if directories.setdefault(_folded(parent), parent) != parent:
                problems.append(_collision(parent, directories[_folded(parent)]))
        if _folded(path) in files:
            problems.append(_collision(path, files[_folded(path)]))
        files[_folded(path)] = path
    both = files.keys() & directories.keys()
    return [*dict.fromkeys(problems), *(_collision(files[name], directories[name]) for name in sorted(both))]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _collision(path: str, other: str) -> Problem:
    return Problem(
        f"on some machines it is the same file as `{file_name(other)}`", file_name(path), hint="rename one of them"
    )
