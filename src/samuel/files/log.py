"""Logs that never grow without end: of whole entries, by any number of processes at once, or of one output."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from samuel.files import atomic
from samuel.files.atomic import errors_naming
from samuel.files.inside import make_dirs_inside

MOST_BYTES = 8 * 1024 * 1024
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
MOST_OF_A_BOUNDED_LOG = 64 * 1024 * 1024
_CHUNK = 1024 * 1024


def append(root: Path, *parts: str, entry: bytes, most: int = MOST_BYTES) -> None:
    """Add `entry` to the file at `parts` below `root`; its directories are made.

    A file longer than `most` is started over, and the old one is kept beside it as `<name>.1`.
    """
    *above, name = parts
    directory = make_ignored_dirs(root, *above)
    try:
        fd = os.open(name, FLAGS, 0o644, dir_fd=directory)
        try:
            with errors_naming(root.joinpath(*parts)):
                os.write(fd, entry)  # one write: entries at the same time stand one after the other
            if os.fstat(fd).st_size > most:
                _set_aside(fd, name, directory)
        finally:
            os.close(fd)
    finally:
        os.close(directory)


def _set_aside(fd: int, name: str, directory: int) -> None:
    """Rotate once, however many writers found it too long: a second time would lose the old file."""
    with suppress(BlockingIOError, FileNotFoundError):  # another process does it, or has done it
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), os.stat(name, dir_fd=directory, follow_symlinks=False)):
            os.replace(name, f"{name}.1", src_dir_fd=directory, dst_dir_fd=directory)


def make_ignored_dirs(root: Path, *parts: str) -> int:
    """Open the directory at `parts` below `root`, made if it is not there.

    Only a new directory gets a .gitignore: a user who wants it in git removes that file for good.
    """
    is_new = not root.joinpath(*parts).exists()
    directory = make_dirs_inside(root, *parts, mode=0o755)
    if is_new:
        try:
            atomic.write_at(directory, ".gitignore", b"*\n", 0o644, durable=False)
        except OSError:
            os.close(directory)
            raise
    return directory


class BoundedLog:
    """Writes to a file that never grows past `most` bytes and can be read at any time.

    When the file is full, its last quarter is moved to the end of the first, and what stood between them becomes a
    line that says how many bytes were left out. So at least a quarter is the beginning, at least a quarter is the
    end, and moving costs about half of what writing does. Nothing is held in memory.
    """

    def __init__(self, fd: int, path: Path, most: int = MOST_OF_A_BOUNDED_LOG) -> None:
        """`fd` is an empty file, open for reading and writing; `path` is for messages."""
        self._fd = fd
        self._path = path
        self._most = most
        self._quarter = most // 4
        self._size = 0
        self._left_out = 0

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        with errors_naming(self._path):
            while rest:
                if self._size == self._most:
                    self._leave_out_the_middle()
                count = os.pwrite(self._fd, rest[: self._most - self._size], self._size)
                self._size += count
                rest = rest[count:]

    def _leave_out_the_middle(self) -> None:
        source, target = self._most - self._quarter, self._quarter + len(_note(0))
        # What stood between them, less the note of the last time, which is written again.
        self._left_out += source - (target if self._left_out else self._quarter)
        os.pwrite(self._fd, _note(self._left_out), self._quarter)
        while source < self._most:
            chunk = os.pread(self._fd, min(_CHUNK, self._most - source), source)
            if not chunk:  # another program cut the file short
                break
            os.pwrite(self._fd, chunk, target)
            source, target = source + len(chunk), target + len(chunk)
        os.ftruncate(self._fd, target)
        self._size = target


def _note(count: int) -> bytes:
    """Always of the same length: it is written over with a larger number."""
    return f"\n[samuel: {count:>20} bytes left out here]\n".encode()
