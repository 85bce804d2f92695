"""Adding to a log: whole entries, by any number of processes at once, and never without end."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from samuel.files.ignored import make_ignored_dirs
from samuel.files.named_errors import errors_naming

MOST_BYTES = 8 * 1024 * 1024
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


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
