"""Following a file that grows: its new lines at each look, at a bounded cost however fast it grows."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.files.inside import open_inside

MOST_AT_ONCE = 1024 * 1024


class NewLines(NamedTuple):
    """What was added to a file since the last look."""

    lines: list[bytes]
    skipped: int = 0
    """Bytes before these lines that were not read: there were too many."""
    is_new_file: bool = False
    """True: another file has this name by now, or it became shorter; what was read before is not in it."""


class FileTail:
    """The lines at the end of one file below a directory. No link is followed; a missing file has no lines."""

    def __init__(self, root: Path, name: str, most: int = MOST_AT_ONCE) -> None:
        self._root = root
        self._name = name
        self._most = most
        self._position = 0
        self._inode = -1

    def read(self) -> NewLines:
        """The whole lines that are new. A line without its end is read when it has one."""
        try:
            fd = open_inside(self._root, self._name, flags=os.O_RDONLY)
        except (OSError, SamuelError):
            return NewLines([])
        with suppress(OSError), open(fd, "rb") as file:
            status = os.fstat(fd)
            is_new = self._inode >= 0 and (status.st_ino != self._inode or status.st_size < self._position)
            if is_new or self._inode < 0:
                self._position = 0
            self._inode = status.st_ino
            skipped = max(status.st_size - self._position - self._most, 0)
            file.seek(self._position + skipped)
            data = file.read(self._most)
            if skipped:  # the first line may have lost its beginning
                lost = data.find(b"\n") + 1
                skipped, data = skipped + lost, data[lost:]
            whole = data[: data.rfind(b"\n") + 1]
            self._position += skipped + len(whole)
            if not whole and len(data) >= self._most:  # one line that is longer than all that is read
                self._position += len(data)
            return NewLines(whole.splitlines(), skipped, is_new)
        return NewLines([])
