"""Reading files with memory for what is in them, or for a block of it, and not for what might be.

`file.read(limit)` takes `limit` bytes of memory first and gives back what was not needed; a large block that comes
and goes is also how a process that stays small in use grows by its fragments.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 64 * 1024
LONGEST_LINE = 64 * 1024 * 1024


def read_at_most(fd: int, limit: int) -> bytes:
    """The first `limit` bytes of the file, or all of it if it is shorter."""
    parts: list[bytes] = []
    left = limit
    block = os.fstat(fd).st_size + 1  # one more: the read that finds the end of a file that did not grow
    while left > 0 and (part := os.read(fd, min(left, block))):
        parts.append(part)
        left -= len(part)
        block = BLOCK
    return b"".join(parts)


def lines_backwards(fd: int) -> Iterator[bytes]:
    """The lines of the file, the last one first, without newlines. What is appended meanwhile is left out."""
    at = os.fstat(fd).st_size
    unfinished: list[bytes] = []  # the end of a line whose beginning is not read yet, its last part first
    length = 0
    while at > 0:
        size = min(BLOCK, at)
        at -= size
        first, *lines = os.pread(fd, size, at).split(b"\n")
        if lines:
            unfinished.append(lines.pop())
            yield b"".join(reversed(unfinished))
            yield from reversed(lines)
            unfinished, length = [], 0
        unfinished.append(first)
        length += len(first)
        if length > LONGEST_LINE:
            return  # longer than any record that Samuel writes
    yield b"".join(reversed(unfinished))
