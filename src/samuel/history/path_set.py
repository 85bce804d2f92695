"""Sets of paths, and paths as JSON can hold them."""

from __future__ import annotations

import os
from collections.abc import Iterable


class PathSet:
    """Paths, and whether another path is one of them, above one or below one."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._above = {above for path in self._paths for above in _parents(path)}

    def touches(self, path: str) -> bool:
        in_set = path in self._paths or path in self._above
        return in_set or any(above in self._paths for above in _parents(path))


def saved_name(path: str) -> str:
    """A path as JSON can hold it: a name that is not UTF-8 is NUL and its bytes as Latin-1."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "\0" + os.fsencode(path).decode("latin-1")
    return path


def path_of(name: str) -> str:
    """The path that `saved_name` was given."""
    return os.fsdecode(name[1:].encode("latin-1")) if name.startswith("\0") else name


def _parents(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:count]) for count in range(1, len(names))]
