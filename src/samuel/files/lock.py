"""One holder at a time, between processes and between threads; the kernel keeps it, so no lock is stale."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.base.clock import Clock, SystemClock
from samuel.base.errors import Locked, UnsafePath

CLOCK = SystemClock()
POLL = 0.02


@contextmanager
def held(path: Path, *, wait: float | None = 0, note: str = "", clock: Clock = CLOCK) -> Iterator[None]:
    """Hold the lock at `path`, a file for this lock alone, or raise Locked with the holder's name.

    `wait` is how many seconds to keep trying; None waits forever. `note` says what the lock is held for.
    It is not reentrant: a second `held` in the same thread waits, or is refused, like that of another process.

    The file is never deleted: a deleted one could be locked by one process while another locks its successor.
    """
    fd = _open(path)
    try:
        _acquire(fd, path, wait, clock)
        _sign(fd, note)
        yield
    finally:
        # Closing alone would not free it while a forked child still has this descriptor.
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def _open(path: Path) -> int:
    # Opened each time: flock belongs to the open file, so two threads exclude each other as well.
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if path.is_symlink():
            raise UnsafePath(f"the lock file `{path}` is a symbolic link", "remove the link") from error
        raise


def _acquire(fd: int, path: Path, wait: float | None, clock: Clock) -> None:
    if wait is None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        return
    deadline = clock.monotonic() + wait
    while not _try(fd):
        left = deadline - clock.monotonic()
        if left <= 0:
            raise Locked(
                f"`{path}` is locked by {_holder(fd)}",
                "wait for it to end, or end it: the lock is released with its process",
            )
        clock.sleep(min(POLL, left))


def _try(fd: int) -> bool:
    # Windows has no flock. msvcrt.locking is the nearest, but it also keeps others from reading the locked
    # bytes: there, lock one byte far past the note.
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(fd: int, note: str) -> None:
    what = " ".join(note.split())
    line = f"pid {os.getpid()} ({what})" if what else f"pid {os.getpid()}"
    with suppress(OSError):  # a courtesy: a full disk must not cost us the lock
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{line}\n".encode(errors="replace"), 0)


def _holder(fd: int) -> str:
    # May be empty, or the holder before, in the instant between a holder's locking and its signing.
    return os.pread(fd, 500, 0).decode(errors="replace").strip() or "another process"
