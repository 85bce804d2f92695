"""Compiled modules, kept for the next process.

A compiled module is native code: whoever writes one decides what runs. So they lie in the user's own cache, in a
directory that nobody else can write to, each named by what it was compiled from and by what, and sealed with a
digest. Whatever is not exactly right is as if it were not there. Nothing compiled is ever read from a plugin.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.errors import SamuelError
from samuel.files.atomic import write_at
from samuel.files.inside import is_inside

SUFFIX = ".cwasm"
KEPT = 50  # the latest; a plugin that is worked on leaves one behind with each build
_SEAL = hashlib.sha256().digest_size


class CompiledCache:
    def __init__(self, directory: Path, project: Path, compiler: str) -> None:
        """`compiler` names wasmtime's version and the kind of machine."""
        self._directory = directory
        self._project = project
        self._compiler = compiler

    def load(self, digest: str) -> bytes | None:
        """What was compiled from the module with this digest, if it is here and whole."""
        with suppress(OSError, SamuelError), self._opened() as directory:
            found = _own_file(directory, self._name(digest))
            if found is not None and found[:_SEAL] == self._seal(digest, found[_SEAL:]):
                return found[_SEAL:]
        return None

    def keep(self, digest: str, compiled: bytes) -> None:
        """Keep it if that is possible; it can always be compiled again."""
        with suppress(OSError, SamuelError), self._opened() as directory:
            data = self._seal(digest, compiled) + compiled
            write_at(directory, self._name(digest), data, 0o600, durable=False)
            _prune(directory)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        if is_inside(self._directory, self._project):
            raise SamuelError(f"`{self._directory}` is inside the project")
        self._directory.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self._directory.mkdir(mode=0o700)
        directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not _only_ours(os.fstat(directory)):
                raise SamuelError(f"others can write to `{self._directory}`")
            yield directory
        finally:
            os.close(directory)

    def _name(self, digest: str) -> str:
        return f"{digest}-{self._compiler}{SUFFIX}"

    def _seal(self, digest: str, compiled: bytes) -> bytes:
        seal = hashlib.sha256(self._name(digest).encode())  # so that no other module's will do
        seal.update(compiled)
        return seal.digest()


def _own_file(directory: int, name: str) -> bytes | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=directory), "rb") as file:
        about = os.fstat(file.fileno())
        return file.read() if stat.S_ISREG(about.st_mode) and _only_ours(about) else None


def _only_ours(about: os.stat_result) -> bool:
    return about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _prune(directory: int) -> None:
    names = [name for name in os.listdir(directory) if name.endswith(SUFFIX)]
    if len(names) > KEPT:
        names.sort(key=lambda name: os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime_ns)
        for name in names[:-KEPT]:
            os.unlink(name, dir_fd=directory)
