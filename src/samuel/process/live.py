"""Which loops and agent sessions are under way for this user, and whether this process is below one of them.

A loop is the subreaper of everything it started. So the parents of such a process lead to the loop, whatever
variables it dropped, whatever session it opened and whatever terminal it made. The entries lie in the user's state
directory, which a sandboxed agent cannot write. Where there is no /proc, only the run's variables tell.

Parents cannot be seen from a new process namespace, which any process can make (`unshare`). So each run holds
a lock on its entry, and to a process in such a namespace every run counts as above it that another one holds.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.regular import open_regular, read_regular
from samuel.process import procfs

_INITIAL = "pid:[4026531836]"  # the kernel's name for the first process namespace: nothing is around it


class LiveEntry(msgspec.Struct, frozen=True):
    name: str  # of the run or the session
    pid: int
    born: int
    namespace: str  # the pid means something only there

    @property
    def alive(self) -> bool:
        """Whether the process runs. One that was killed keeps its number until its parent looks."""
        status = procfs.stat(self.pid)
        return self.born != 0 and not (status and status.dead) and procfs.born(self.pid) == self.born


@contextmanager
def registered(directory: Path | None, name: str) -> Iterator[None]:
    """What is started while this lasts is below `name`. Without a directory nothing is recorded."""
    file = _write(directory, name) if directory is not None else None
    lock = _locked(file) if file is not None else -1
    try:
        yield
    finally:
        if file is not None:
            file.unlink(missing_ok=True)
        if lock >= 0:
            os.close(lock)


def enclosing(directory: Path) -> str:
    """The name of the nearest run or session that this process was started below; "" if there is none."""
    return next(iter(all_enclosing(directory)), "")


def all_enclosing(directory: Path, pid: int = 0) -> list[str]:
    """The names of all runs and sessions that a process was started below, or may have been, nearest first.

    The process is this one, or `pid`, which is in the same process namespace.
    """
    entries = list(_entries(directory))
    if not entries:
        return []
    here = _namespace()
    visible = {entry.pid: entry for _, entry in entries if entry.namespace == here}
    above = [visible[parent] for parent in procfs.ancestors(pid) if parent in visible]
    names = [entry.name for entry in above if entry.alive]
    if here not in ("", _INITIAL):
        names += [entry.name for file, entry in entries if entry.namespace != here and _is_locked(file)]
    return names


def is_live(directory: Path, name: str) -> bool:
    """Whether the run or session of this name is under way."""
    return any(entry.name == name and (entry.alive or _is_locked(file)) for file, entry in _entries(directory))


def is_registered(directory: Path, pid: int) -> bool:
    """Whether this process has a run or a session under way."""
    return any(entry.pid == pid and entry.alive for _, entry in _entries(directory))


def _write(directory: Path, name: str) -> Path | None:
    entry = LiveEntry(name, os.getpid(), procfs.born(os.getpid()), _namespace())
    file = directory / f"{entry.pid}-{name}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for other, left in _entries(directory):  # of processes that were killed
            if left.namespace == entry.namespace and not left.alive:
                other.unlink(missing_ok=True)
        atomic.write_bytes(file, msgspec.json.encode(entry), 0o600, durable=False)
    except OSError:  # a home that is read-only: then trust cannot be widened there either
        return None
    return file


def _entries(directory: Path) -> Iterator[tuple[Path, LiveEntry]]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for file in map(directory.joinpath, names):
        with suppress(OSError, UnicodeDecodeError, msgspec.MsgspecError):
            yield file, decode_json(read_regular(file), LiveEntry)


def _locked(file: Path) -> int:
    """A descriptor that holds the file's lock until it is closed; -1 where there are no locks."""
    with suppress(OSError):
        fd = open_regular(file)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise
        return fd
    return -1


def _is_locked(file: Path) -> bool:
    with suppress(OSError):
        fd = open_regular(file)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
    return False


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
