"""Names that exist while sandboxes are around, so that they can be mounted read-only in them.

What does not exist cannot be mounted, and an agent could create it: git would take configuration from there. So an
empty one is put in its place. Removing a mount point detaches the mount in every other sandbox, and leaves the
name to the agents there. So all sandboxes of a directory hold a shared lock on it, and only the last one removes.
A Samuel that is killed loses its lock, and the next one removes what was left.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.process.reason import NotRunnable

_PATIENCE = 30.0  # the holder of an exclusive lock only removes a few empty files


class Placeholders(NamedTuple):
    """What must exist below a directory. A later name may lie inside an earlier one."""

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
