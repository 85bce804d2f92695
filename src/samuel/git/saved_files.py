"""Copies of files of a git directory: what they were before a program worked in the repository."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from samuel.files import atomic
from samuel.files.survey import Signature, signature_if_exists
from samuel.git.git import RepositoryLocation

SHARED = ("config", "shallow", "info/exclude", "info/attributes", "info/grafts", "logs/refs/stash")
"""The files that all work trees of a repository have in common, and so they have the hooks."""
HOOKS = "hooks"


class SavedFiles:
    """Files and directories of a git directory by name, and their copies below `copies`."""

    def __init__(self, location: RepositoryLocation, copies: Path) -> None:
        self._location = location
        self._copies = copies

    def path(self, name: str) -> Path:
        is_shared = name in SHARED or name.partition("/")[0] == HOOKS
        return (self._location.shared if is_shared else self._location.directory) / name

    def save(self, names: Iterable[str], last: Mapping[str, Signature]) -> dict[str, Signature]:
        """Copy those that exist; gives their signatures. What still has its signature in `last` has a copy.

        Copies of all others are removed.
        """
        signatures: dict[str, Signature] = {}
        for name in names:
            file, copy = self.path(name), self.copy_of(name)
            signature = signature_if_exists(file)
            if not signature:
                continue
            signatures[name] = signature
            if last.get(name) == signature and os.path.lexists(copy):
                continue
            _remove(copy)
            copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _copy(file, copy)
        copies = {self.copy_of(name) for name in signatures}
        for copy in set(self._copies.iterdir()) - copies if self._copies.is_dir() else ():
            _remove(copy)
        return signatures

    def changed(self, names: Iterable[str], before: Mapping[str, Signature]) -> list[str]:
        """The names that are not what they were; a directory only if it appeared or is gone."""
        return [name for name in names if not self._is_same(name, before.get(name, ()))]

    def put_back(self, name: str) -> None:
        """Make the file what its copy is; without a copy it is removed. Raises OSError."""
        file, copy = self.path(name), self.copy_of(name)
        if not os.path.lexists(copy) or copy.is_symlink() or copy.is_dir():
            _remove(file)
            if os.path.lexists(copy):
                file.parent.mkdir(parents=True, exist_ok=True)
                _copy(copy, file)
            return
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        status = copy.stat()
        atomic.write_bytes(file, copy.read_bytes(), status.st_mode & 0o777, durable=False)
        # Git takes an entry for unchanged whose file is older than the index: it must not look newer than it was.
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    def copy_of(self, name: str) -> Path:
        return self._copies / name.replace("/", "%")

    def is_link(self, name: str) -> bool:
        """Whether the file is a symbolic link, or was one."""
        return self.path(name).is_symlink() or self.copy_of(name).is_symlink()

    def _is_same(self, name: str, before: Signature) -> bool:
        file, copy = self.path(name), self.copy_of(name)
        now = signature_if_exists(file)
        if now == before:
            return True
        if not now or not before:
            return False
        if file.is_symlink() or copy.is_symlink():
            return file.is_symlink() and copy.is_symlink() and os.readlink(file) == os.readlink(copy)
        if copy.is_dir():
            return file.is_dir()
        try:
            is_executable = [bool(path.stat().st_mode & 0o100) for path in (file, copy)]
            return is_executable[0] == is_executable[1] and file.read_bytes() == copy.read_bytes()
        except OSError:
            return False


def _copy(path: Path, target: Path) -> None:
    """Copy a file, a directory, or a link as a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.copytree(path, target, symlinks=True)
    else:
        shutil.copy2(path, target, follow_symlinks=False)


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
