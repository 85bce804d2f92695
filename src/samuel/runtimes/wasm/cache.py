"""A cache of compiled modules, for the next process.

A compiled module is native code, so it must not come from anyone but Samuel. The files are in the user's cache, in
a directory that no other user can write to, each named after the digest of its source and the compiler, and sealed
with a digest. A file that is not exactly right is ignored. Compiled code is never read from a plugin.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.files.atomic import write_at
from samuel.files.inside import is_inside

SUFFIX = ".cwasm"
MAX_MODULES = 50  # only the latest are kept: a plugin in development adds one with each build
_SEAL = hashlib.sha256().digest_size


class CompiledCache:
    """The compiled modules of the user."""

    def __init__(self, directory: Path, project: Path, compiler: str) -> None:
        """`compiler` names wasmtime's version and the kind of machine."""
        self._directory = directory
        self._project = project
        self._compiler = compiler

    def load(self, digest: str) -> bytes | None:
        """The compiled form of the module with this digest, if it is cached and intact."""
        with suppress(OSError, SamuelError), self._opened() as directory:
            sealed = _own_file(directory, self._name(digest))
            if sealed is not None and sealed[:_SEAL] == self._seal(digest, sealed[_SEAL:]):
                return sealed[_SEAL:]
        return None

    def keep(self, digest: str, compiled: bytes) -> None:
        """Store a compiled module. Errors are ignored: it can always be compiled again."""
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
        seal = hashlib.sha256(self._name(digest).encode())  # so that the file of another module is not accepted
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
    if len(names) > MAX_MODULES:
        names.sort(key=lambda name: os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime_ns)
        for name in names[:-MAX_MODULES]:
            os.unlink(name, dir_fd=directory)
