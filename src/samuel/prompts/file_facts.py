"""What each file of a project holds, in numbers. Its content is looked at once and never kept.

The facts of the last snapshot are cached outside of the project: those of tracked files by the content that git
has, those of changed and untracked ones by size, times and inode. Only what is about something else by now is read
again.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from samuel.base.clock import Clock
from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.survey import signature
from samuel.prompts.file_list import FileList
from samuel.prompts.languages import Described, describe

HUGE = 4 * 1024 * 1024
"""Larger files count as data: they have a size, and their lines are not counted."""

VERSION = "2"
"""Of the cache: a newer Samuel starts afresh instead of guessing what an older one meant."""

# A file that changed within this time could change again under the same timestamp, or has changed since we asked
# git about it: what is known of it is used now and not believed later. In nanoseconds.
SETTLES = 50_000_000

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


class CachedFile(msgspec.Struct, array_like=True, frozen=True, gc=False):
    about: bytes
    """The content or the state of the file that this is about; b"" if that may have changed already."""
    described: Described
    facts: FileFacts


CachedFiles = dict[bytes, CachedFile]


class ProjectFacts:
    """The facts of all files below one root. A cache that is missing or damaged costs time and nothing else."""

    def __init__(self, directory: Path, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._tracked = directory / "snapshots" / f"{file_cache.digest_of(os.path.realpath(root))}.tracked"
        self._loose = self._tracked.with_suffix(".loose")

    def read(self, files: FileList) -> tuple[CachedFiles, list[bytes]]:
        """The facts of each file that is there; and those of them that git does not vouch for, newest first."""
        decode = msgpack_decoder(CachedFiles)
        tracked = file_cache.load(self._tracked, decode, VERSION) or {}
        last_loose = file_cache.load(self._loose, decode, VERSION) or {}
        settled_before = int(self._clock.now() * 1e9) - SETTLES
        rows, loose, ages = {}, {}, {}
        # The facts of a changed file stay: the change may be taken back.
        still_tracked = {path: tracked[path] for path in files.loose if path in tracked}
        with FactsReader(self._root) as reader:
            for path, blob in files.clean.items():
                if (row := tracked.get(path)) is None or row.about != blob:
                    if (counted := reader.read(path)) is None:  # gone since git looked
                        continue
                    about = blob if counted[0].st_ctime_ns < settled_before else b""
                    row = CachedFile(about, describe(path), counted[1])
                rows[path] = row
            for path in files.loose:
                if (status := reader.look(path)) is None:
                    continue
                if (row := last_loose.get(path)) is None or row.about != _stamp(status):
                    if (counted := reader.read(path)) is None:
                        continue
                    status, facts = counted
                    about = _stamp(status) if status.st_ctime_ns < settled_before else b""
                    row = CachedFile(about, describe(path), facts)
                loose[path], ages[path] = row, -status.st_mtime_ns
        if (now_tracked := {**rows, **still_tracked}) != tracked:
            file_cache.save(self._tracked, now_tracked, msgspec.msgpack.encode, VERSION)
        file_cache.save(self._loose, loose, msgspec.msgpack.encode, VERSION)
        return {**rows, **loose}, sorted(loose, key=lambda path: (ages[path], path))


def _stamp(status: os.stat_result) -> bytes:
    return repr(signature(status)).encode()
