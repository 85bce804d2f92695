"""The paths that words of a call name, from the project's root; also the targets of links."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache

LONGEST_PATH = 4096  # characters; the system has none that is longer


class ProjectPaths:
    """Looks up words in one project. What it reads from the disk is kept for the next word."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._root_names = set(os.listdir(root))
        self._real: Callable[[str], str] = cache(os.path.realpath)
        self._links = cache(_links)

    def named_by(self, words: Iterable[str], directory: str = "") -> Iterator[str]:
        """The paths that each word may mean, seen from `directory`; without one, from the root."""
        for word in words:
            # An input may be a megabyte of words: only those that can name a file are looked up.
            if not directory and word not in self._root_names and "/" not in word and word not in (".", ".."):
                yield word
                continue
            path = os.path.normpath(os.path.join(directory or self.root, word))
            inner_path = self.relative(path)
            yield inner_path
            possible = len(path) <= LONGEST_PATH and "\0" not in path
            if possible and (os.path.isabs(inner_path) or inner_path.partition("/")[0] in self._root_names):
                target = self.target(path)
                inner_target = target.removeprefix(f"{self._real(self.root)}/")
                yield inner_target
                if os.path.isdir(target):  # a call that names a directory may touch every file in it
                    yield from (f"{inner_path}/*", f"{inner_target}/*")

    def target(self, path: str) -> str:
        """Where an absolute path leads."""
        directory, name = self._real(os.path.dirname(path)), os.path.basename(path)
        target = os.path.join(directory, name)
        return self._real(target) if name in self._links(directory) else target

    def relative(self, path: str) -> str:
        return path.removeprefix(f"{self.root}/")


def _links(directory: str) -> set[str]:
    try:
        with os.scandir(directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink()}
    except OSError:
        return set()
