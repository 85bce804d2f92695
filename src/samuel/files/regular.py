"""Reading a file that another program may have put there: only a regular one, and without waiting.

A pipe, a device or a socket in the place of a file would make a reader wait, or read for ever. Nothing here waits
for a writer, and nothing but a regular file is read. A link is followed only where its owner may use links.

Memory is taken for what is in a file, or for a block of it: `file.read(limit)` takes `limit` bytes first and gives
back what was not needed, and a large block that comes and goes is how a process grows by its fragments.

Of the standard library it uses `errno`, `os` and `stat`: `samuel emit` reads files before it loads the engine.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


BLOCK = 64 * 1024
LONGEST_LINE = 64 * 1024 * 1024
NOT_REGULAR = "it is not a regular file"
LARGEST = 256 * 1024 * 1024  # bytes; none of Samuel's own files is as large


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


def open_regular(path: str | Path, *, follow: bool = True) -> int:
    """A descriptor of the regular file at `path`; OSError if there is none, or something else is there."""
    # O_NONBLOCK: opening a named pipe must not wait for a writer; on a regular file it means nothing.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    fd = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, NOT_REGULAR, str(path))


def read_regular(path: str | Path, limit: int = LARGEST, *, follow: bool = True) -> bytes:
    """The first `limit` bytes of the regular file at `path`; OSError as for `open_regular`."""
    fd = open_regular(path, follow=follow)
    try:
        return read_at_most(fd, limit)
    finally:
        os.close(fd)
