"""Facts about a project's files from the last snapshot, cached outside of the project.

    tracked   what git vouches for: a table, good for as long as git's index is the same file
    loose     what git does not vouch for: changed and untracked files, each by its size, times and inode

Only what is about something else by now is read again. A cache that is missing, damaged or cannot be written costs
time and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.clock import Clock
from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.prompts import file_table
from samuel.prompts.file_facts import FactsReader, FileFacts
from samuel.prompts.file_list import FileList, Last
from samuel.prompts.file_table import FileTable
from samuel.prompts.parallel_read import read_many

VERSION = "1"
"""Of the format: a newer Samuel starts afresh instead of guessing what an older one meant."""

# A file that changed within this time could change again under the same timestamp, or has changed since we asked
# git about it: what is known of it is used now and not believed later. In nanoseconds.
SETTLES = 50_000_000


class Tracked(msgspec.Struct, array_like=True):
    index_stamp: bytes = b""
    """Which index the table is about; b"" for none."""
    changed: list[bytes] = []
    """Tracked files that are not in the table, because they differed from the index."""
    table: bytes = b""
    blobs: bytes = b""
    """For each row the content that it is about; a row about another by now is read again."""


class Loose(msgspec.Struct, array_like=True):
    files: dict[bytes, tuple[str, FileFacts]] = {}
    head: str = ""
    """Which commit the next two are about."""
    commits: list[tuple[str, str, str]] = []
    touched: list[bytes] = []


class Current(NamedTuple):
    table: FileTable
    loose: list[bytes]
    """The files that git does not vouch for, newest first."""


class Cache:
    """What is kept for one root."""

    def __init__(self, directory: Path, root: Path) -> None:
        self._root = root
        name = file_cache.digest_of(os.path.realpath(root))
        self._tracked = directory / "snapshots" / f"{name}.tracked"
        self._loose = self._tracked.with_suffix(".loose")
        self._stored = file_cache.load(self._tracked, msgpack_decoder(Tracked), VERSION) or Tracked()
        self.loose = file_cache.load(self._loose, msgpack_decoder(Loose), VERSION) or Loose()

    @property
    def last(self) -> Last:
        return Last(self._stored.index_stamp, frozenset(self._stored.changed))

    def refresh(self, files: FileList, reader: FactsReader, clock: Clock) -> Current:
        """The table of all that is there now, after reading what changed."""
        settled_before = int(clock.now() * 1e9) - SETTLES
        table = file_table.decode(self._stored.table) if self._stored.table else FileTable()
        if files.clean is not None:
            table = self._retrack(table, files, reader, settled_before)
        newest = self._apply_loose(table, files, reader, settled_before)
        return Current(table, newest)

    def save(self) -> None:
        """The loose ones: they and the commits are small, and written whenever something changed."""
        file_cache.save(self._loose, self.loose, msgspec.msgpack.encode, VERSION)

    def _retrack(
        self, old_table: FileTable, files: FileList, reader: FactsReader, settled_before: int
    ) -> FileTable:
        """A new table of the clean files, with the rows of the old one that are still about the same content."""
        assert files.clean is not None
        table, index_stamp, blobs = FileTable(), files.index_stamp, []
        rows = dict(zip(old_table.paths, enumerate(self._stored.blobs.split(b"\0")), strict=False))
        new = [path for path, blob in files.clean.items() if path not in rows or rows[path][1] != blob]
        read = read_many(self._root, reader, new)
        for path, blob in files.clean.items():
            row, about = rows.get(path, (0, b""))
            if about == blob:
                table.copy(old_table, row)
                blobs.append(blob)
            elif counted := next(read):
                settled = counted[0] < settled_before
                table.add(path, counted[1])
                blobs.append(blob if settled else b"")
                index_stamp = index_stamp if settled else b""
            else:  # gone since git looked
                index_stamp = b""
        stored = Tracked(index_stamp, files.changed, file_table.encode(table), b"\0".join(blobs))
        file_cache.save(self._tracked, stored, msgspec.msgpack.encode, VERSION)
        return table

    def _apply_loose(
        self, table: FileTable, file_list: FileList, reader: FactsReader, settled_before: int
    ) -> list[bytes]:
        files, newest = {}, []
        rows = table.rows() if file_list.changed else {}
        for path in (*file_list.changed, *file_list.untracked):
            row = rows.get(path)
            current = self._look_again(path, reader, settled_before)
            if current is None:
                if row is not None:
                    table.remove(row)
                continue
            modified, stamp, facts = current
            files[path] = stamp, facts
            newest.append((-modified, path))
            if row is None:
                table.add(path, facts)
            else:
                table.set(row, facts)
        self.loose.files = files
        return [path for _, path in sorted(newest)]

    def _look_again(
        self, path: bytes, reader: FactsReader, settled_before: int
    ) -> tuple[int, str, FileFacts] | None:
        file_stat = reader.look(path)
        if file_stat is None:
            return None
        cached = self.loose.files.get(path)
        if cached is not None and cached[0] == _stamp(file_stat):
            return file_stat.st_mtime_ns, *cached
        read = reader.read(path)
        if read is None:
            return None
        file_stat, facts = read
        return file_stat.st_mtime_ns, _stamp(file_stat) if file_stat.st_ctime_ns < settled_before else "", facts


def _stamp(file_stat: os.stat_result) -> str:
    return f"{file_stat.st_size} {file_stat.st_mtime_ns} {file_stat.st_ctime_ns} {file_stat.st_ino}"
