"""What one file holds, in numbers. Its content is looked at once and never kept."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

HUGE = 4 * 1024 * 1024
"""Larger files count as data: they have a size, and their lines are not counted."""

_SMALL = 128 * 1024
_SNIFFED = 8000  # git's own test: what has a NUL within these is binary
# The rest of the line goes with the word, so that a line counts once, as in `grep -c`.
_LINES_WITH = {word: re.compile(rb"\b%b\b[^\n]*" % word).findall for word in (b"TODO", b"FIXME", b"HACK")}
_todo_in = re.compile(b"TODO").search
# A pipe must not make us wait, and a link must not lead us out.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileFacts(NamedTuple):
    size: int
    text: bool
    lines: int | None
    """None for what is not text, or huge. A last line without a line break counts."""
    todo: int
    """Lines with this word; the next two likewise."""
    fixme: int
    hack: int
    tests_inside: bool
    """Rust keeps tests in the file that they test; False for all other languages."""


class FactsReader:
    """Reads files below one root, all into the same buffer: a hundred thousand new ones would cost more."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._buffer = bytearray(_SMALL)

    def __enter__(self) -> FactsReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._root)

    def look(self, path: bytes) -> os.stat_result | None:
        """A regular file's own stat; None for anything else, and for nothing at all."""
        try:
            file_stat = os.stat(path, dir_fd=self._root, follow_symlinks=False)
        except OSError:
            return None
        return file_stat if stat.S_ISREG(file_stat.st_mode) else None

    def read(self, path: bytes) -> tuple[os.stat_result, FileFacts] | None:
        """What it holds, with the stat of exactly what was read. None: it is gone, or no regular file."""
        try:
            fd = os.open(path, _FLAGS, dir_fd=self._root)
        except PermissionError:  # it counts, but we cannot say more
            file_stat = self.look(path)
            return (file_stat, _unread(file_stat.st_size, text=False)) if file_stat else None
        except OSError:
            return None
        try:
            file_stat = os.fstat(fd)
            if not stat.S_ISREG(file_stat.st_mode):
                return None
            if file_stat.st_size > HUGE:
                start = os.read(fd, _SNIFFED)
                return file_stat, _unread(file_stat.st_size, text=b"\0" not in start)
            buffer = self._buffer if file_stat.st_size <= _SMALL else bytearray(file_stat.st_size)
            return file_stat, count(buffer, os.readv(fd, [buffer]), path.endswith(b".rs"))
        except OSError:
            return None
        finally:
            os.close(fd)


def count(data: bytearray, size: int, rust: bool = False) -> FileFacts:
    """The facts of the first `size` bytes."""
    find = data.find
    if 0 <= find(b"\0", 0, size) < _SNIFFED:
        return _unread(size, text=False)
    lines = data.count(b"\n", 0, size)
    if size and data[size - 1] != 10:
        lines += 1
    # Most files have none of the words, and one letter is found ten times as fast as a word.
    todo = fixme = hack = 0
    if _todo_in(data, 0, size):
        todo = len(_LINES_WITH[b"TODO"](data, 0, size))
    if find(b"X", 0, size) >= 0 and find(b"FIXME", 0, size) >= 0:
        fixme = len(_LINES_WITH[b"FIXME"](data, 0, size))
    if find(b"K", 0, size) >= 0 and find(b"HACK", 0, size) >= 0:
        hack = len(_LINES_WITH[b"HACK"](data, 0, size))
    return FileFacts(size, True, lines, todo, fixme, hack, rust and find(b"#[cfg(test)]", 0, size) >= 0)


def _unread(size: int, text: bool) -> FileFacts:
    return FileFacts(size, text, None, 0, 0, 0, False)
