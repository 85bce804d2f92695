"""What is at a path of the work tree, as far as a tree can have it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal, NamedTuple

LARGEST = 256 * 1024 * 1024  # of a file that is kept: a repository must not grow by every data set beside the code
NOT_KEPT = b"samuel: this file was not kept, because "
"""How the text begins that a tree has in place of a file which it cannot have."""


class WorkFile(NamedTuple):
    kind: Literal["file", "gone", "not_kept"]
    """`gone`: nothing is there, or what is no file of the project, such as a directory or a pipe."""
    changed_at: int = 0
    """When it last changed, content or anything else, in nanoseconds."""
    why: str = ""
    """Why it cannot be kept."""
    identity: str = ""
    """Changes with the file, without reading it."""

    @property
    def note(self) -> bytes:
        """What a tree has in its place."""
        return NOT_KEPT + f"{self.why}\n{self.identity}\n".encode()


GONE = WorkFile("gone")


class WorkFiles:
    """Looks at files below a root; what lies behind a link is none of the project's."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._links: dict[str, bool] = {}

    def look(self, path: str) -> WorkFile:
        parent = os.path.dirname(path)
        if parent and self._is_behind_link(parent):
            return GONE
        try:
            status = os.lstat(self._root / path)
        except PermissionError:
            return WorkFile("not_kept", why="its directory cannot be read")
        except OSError:
            return GONE
        changed_at = status.st_ctime_ns
        if stat.S_ISLNK(status.st_mode):
            return WorkFile("file", changed_at)
        if not stat.S_ISREG(status.st_mode):
            return GONE
        why = ""
        if status.st_size > LARGEST:
            why = f"it is larger than {LARGEST >> 20} MiB"
        elif not os.access(self._root / path, os.R_OK):
            why = "it cannot be read"
        if not why:
            return WorkFile("file", changed_at)
        identity = f"{status.st_size} bytes, changed at {status.st_ctime_ns} ns, inode {status.st_ino}"
        return WorkFile("not_kept", changed_at, why, identity)

    def _is_behind_link(self, directory: str) -> bool:
        if directory not in self._links:
            above = os.path.dirname(directory)
            behind = bool(above and self._is_behind_link(above))
            self._links[directory] = behind or os.path.islink(self._root / directory)
        return self._links[directory]
