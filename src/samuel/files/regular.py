"""Reading a file that another program may have put there: only a regular one, and without waiting.

A pipe, a device or a socket in the place of a file would make a reader wait, or read for ever. Nothing here waits
for a writer, and nothing but a regular file is read. A link is followed only where its owner may use links.

Of the standard library it uses `errno`, `os` and `stat`: `samuel emit` reads files before it loads the engine.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from samuel.files.bounded_read import read_at_most

if TYPE_CHECKING:
    from pathlib import Path

NOT_REGULAR = "it is not a regular file"
LARGEST = 256 * 1024 * 1024  # bytes; none of Samuel's own files is as large


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
