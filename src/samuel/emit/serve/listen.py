"""The one server of a project and an environment: its lock, its socket, and what an earlier one left running."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from samuel.base.errors import SamuelError
from samuel.emit.serve.socket_name import is_private
from samuel.emit.serve.start import forget_starting
from samuel.process.ledger import LEDGER, MARK
from samuel.process.tree import end_leftovers

BACKLOG = 128


@contextmanager
def listening(path: str) -> Iterator[socket.socket]:
    """The listening socket at `path`; SamuelError if another server has it."""
    directory = os.path.dirname(path)
    with suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    if not is_private(directory):
        raise SamuelError(f"`{directory}` is not a directory that only you can enter", "remove it")
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SamuelError(f"another server listens at `{path}`", "`samuel serve stop` ends it") from None
        _end_leftovers(lock)
        with suppress(FileNotFoundError):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            mask = os.umask(0o177)  # from its first moment no other user can connect
            try:
                listener.bind(path)
            finally:
                os.umask(mask)
            listener.listen(BACKLOG)
            forget_starting(path)
            yield listener
            if not (LEDGER.started or LEDGER.in_flight):
                os.ftruncate(lock, 0)  # nothing is left to be ended
    finally:
        os.close(lock)


def _end_leftovers(lock: int) -> None:
    """End the processes of calls that a killed server left, and note by which mark ours can be found."""
    if mark := os.pread(lock, 200, 0).decode(errors="replace"):
        end_leftovers(MARK, mark, prefix=True)
    os.ftruncate(lock, 0)
    os.pwrite(lock, LEDGER.prefix.encode(), 0)
