"""Which loops and agent sessions are under way for this user, and whether this process is below one of them.

A loop is the subreaper of everything it started. So the parents of such a process lead to the loop, whatever
variables it dropped, whatever session it opened and whatever terminal it made. The entries lie in the user's state
directory, which a sandboxed agent cannot write. Where there is no /proc, only the run's variables tell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from samuel.decoding import decode_json
from samuel.files import atomic
from samuel.process import procfs


class LiveEntry(msgspec.Struct, frozen=True):
    name: str  # of the run or the session
    pid: int
    born: int
    namespace: str  # the pid means something only there

    @property
    def alive(self) -> bool:
        return self.born != 0 and procfs.born(self.pid) == self.born


@contextmanager
def registered(directory: Path | None, name: str) -> Iterator[None]:
    """What is started while this lasts is below `name`. Without a place to write it down, nobody can tell."""
    file = _write(directory, name) if directory is not None else None
    try:
        yield
    finally:
        if file is not None:
            file.unlink(missing_ok=True)


def enclosing(directory: Path) -> str:
    """The name of the nearest run or session that this process was started below; "" if there is none."""
    entries = {entry.pid: entry for _, entry in _entries(directory) if entry.namespace == _namespace()}
    if not entries:
        return ""
    for pid in procfs.ancestors():
        if (entry := entries.get(pid)) and entry.alive:
            return entry.name
    return ""


def _write(directory: Path, name: str) -> Path | None:
    entry = LiveEntry(name, os.getpid(), procfs.born(os.getpid()), _namespace())
    file = directory / f"{entry.pid}-{name}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for other, left in _entries(directory):  # of processes that were killed
            if left.namespace == entry.namespace and not left.alive:
                other.unlink(missing_ok=True)
        atomic.write_bytes(file, msgspec.json.encode(entry), 0o600, durable=False)
    except OSError:  # a home that is read-only: then nobody can widen trust there either
        return None
    return file


def _entries(directory: Path) -> Iterator[tuple[Path, LiveEntry]]:
    with suppress(OSError):
        for file in directory.iterdir():
            with suppress(OSError, UnicodeDecodeError, msgspec.MsgspecError):
                yield file, decode_json(file.read_bytes(), LiveEntry)


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
