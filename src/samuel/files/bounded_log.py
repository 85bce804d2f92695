"""The log of something that may write without end: its beginning and its end are kept, the middle is left out."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.files.named_errors import errors_naming

MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024


class BoundedLog:
    """Writes to a file that never grows past `most` bytes and can be read at any time.

    When the file is full, its last quarter is moved to the end of the first, and what stood between them becomes a
    line that says how many bytes were left out. So at least a quarter is the beginning, at least a quarter is the
    end, and moving costs about half of what writing does. Nothing is held in memory.
    """

    def __init__(self, fd: int, path: Path, most: int = MOST_BYTES) -> None:
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
