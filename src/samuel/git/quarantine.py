"""Where things go that an agent left and that git must not see: out of the way, and not lost."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

from samuel.base.errors import UnsafePath
from samuel.base.printable import safe, shell_word
from samuel.files.inside import open_inside

CONTENT = "content"
EXPLANATION = "README.txt"
_HEAD, _NO_HEAD = "HEAD", "HEAD.quarantined"  # without the first, no git takes a directory for a repository
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Quarantine:
    """A directory of the project that agents cannot write. Each thing in it has an entry of its own."""

    def __init__(self, root: Path, directory: Path) -> None:
        self._root = root
        self._directory = directory

    def take(self, base: Path, path: str, why: str) -> str:
        """Move what is at `path`, below `base`, away; gives what to tell its owner.

        No link on the way is followed: another agent may still be at work elsewhere in the project.
        """
        name = self._printable_path(path)
        try:
            parent = _open_parent(base, path)
        except (OSError, UnsafePath):
            return f"`{name}` ({why}) could not be moved away: do not run git there before you looked at it"
        try:
            moved, restore = self._move(parent, path)
        except OSError as error:
            reason = error.strerror or str(error)
            return f"`{name}` ({why}) could not be moved away: {reason}; do not run git there before you looked"
        finally:
            os.close(parent)
        return f"`{name}` was moved to `{self._printable_path(moved)}`: {why}; `{restore}` puts it back"

    def restore(self, base: Path, path: str, content: bytes, mode: int, link: str) -> None:
        """Make what was at `path` before, after `take`."""
        with suppress(OSError, UnsafePath):
            parent = _open_parent(base, path)
            try:
                name = os.path.basename(path)
                if link:
                    os.symlink(link, name, dir_fd=parent)
                    return
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with open(os.open(name, flags, mode, dir_fd=parent), "wb") as file:
                    file.write(content)
            finally:
                os.close(parent)

    def _move(self, parent: int, path: str) -> tuple[str, str]:
        """Where it is now, and the command that puts it back."""
        entry = self._new_entry()
        fd = os.open(entry, _DIRECTORY)
        name, moved = os.path.basename(path), str(entry / CONTENT)
        try:
            os.rename(name, CONTENT, src_dir_fd=parent, dst_dir_fd=fd)
        except OSError as error:
            if error.errno != errno.EXDEV:
                with suppress(OSError):
                    entry.rmdir()
                raise
            # Another file system: it stays where it is, under a name that git does not know.
            other = f"{name}.quarantined-{entry.name}"
            os.rename(name, other, src_dir_fd=parent, dst_dir_fd=parent)
            moved = os.path.join(os.path.dirname(path), other)
        finally:
            os.close(fd)
        restore = f"mv {shell_word(self._printable_path(moved))} {shell_word(self._printable_path(path))}"
        with suppress(OSError):  # a file, or a directory without one
            os.rename(os.path.join(moved, _HEAD), os.path.join(moved, _NO_HEAD))
            head = shell_word(self._printable_path(os.path.join(moved, _NO_HEAD)))
            restore = f"mv {head} {shell_word(self._printable_path(os.path.join(moved, _HEAD)))} && {restore}"
        with suppress(OSError):
            (entry / EXPLANATION).write_text(f"was: {self._printable_path(path)}\nto put it back: {restore}\n")
        return moved, restore

    def _new_entry(self) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        number = 1
        while True:
            entry = self._directory / f"{stamp}-{number}"
            with suppress(FileExistsError):
                entry.mkdir(mode=0o700)
                return entry
            number += 1

    def _printable_path(self, path: str) -> str:
        inside = path.startswith(f"{self._root}/")
        return safe(os.path.relpath(path, self._root) if inside else path)


def _open_parent(base: Path, path: str) -> int:
    parent = os.path.relpath(os.path.dirname(path), base)
    return os.open(base, _DIRECTORY) if parent == "." else open_inside(base, parent, flags=_DIRECTORY)
