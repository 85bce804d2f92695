"""The files that a lane takes from the project itself and not from a commit: the rules of a run, and `copy`.

An agent is judged by the rules that its user has now, committed or not. They are no part of its work.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base.paths import HOME, PROTECTED
from samuel.files.regular import read_regular
from samuel.files.survey import Signature, signature_if_exists, survey

SKIPPED = ("run",)  # the state of runs, in .samuel


class MirrorUpdate(NamedTuple):
    missing: tuple[str, ...]
    """The names in `copy` that the project does not have."""
    has_changed: bool
    """Whether a file of the lane was not the same."""


class MirroredFiles:
    """Keeps files of a lane the same as those of the project."""

    def __init__(self, project: Path, lane: Path, copied: Iterable[str]) -> None:
        self._project = project
        self._lane = lane
        self._copied = tuple(copied)
        self._has_changed = False
        self.names: frozenset[str] = frozenset()  # of all these files, relative to the root
        self._same: dict[str, tuple[Signature, Signature]] = {}

    def update(self) -> MirrorUpdate:
        """Make the files the same."""
        self._has_changed = False
        names = dict.fromkeys(rule_names(self._project))
        for name in rule_names(self._lane):
            if name not in names:
                self._has_changed = True
                _remove(self._lane / name)
        missing = []
        for name in self._copied:
            if not os.path.lexists(self._project / name):
                missing.append(name)
            names |= dict.fromkeys(_files(self._project, name))
        for name in names:
            self._put(name)
        self.names = frozenset(names)
        return MirrorUpdate(tuple(missing), self._has_changed)

    def _put(self, name: str) -> None:
        source, target = self._project / name, self._lane / name
        before = (signature_if_exists(source), signature_if_exists(target))
        if self._same.get(name) == before and before[1]:
            return
        if not _is_same(source, target):
            self._has_changed = True
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove(target)
            shutil.copy2(source, target, follow_symlinks=False)
        self._same[name] = (before[0], signature_if_exists(target))


def rule_names(root: Path) -> Iterator[str]:
    """The files by which agents are judged, relative to the root."""
    for place in PROTECTED:
        yield from _files(root, place, SKIPPED if place == HOME else ())


def _files(root: Path, place: str, skip: tuple[str, ...] = ()) -> list[str]:
    """The files at or below a place, relative to the root."""
    path = root / place
    if path.is_symlink() or path.is_file():
        return [place]
    with suppress(FileNotFoundError, NotADirectoryError):
        return [f"{place}/{name}" for name in survey(path, skip)]
    return []


def _is_same(source: Path, target: Path) -> bool:
    if source.is_symlink() or target.is_symlink():
        return source.is_symlink() and target.is_symlink() and os.readlink(source) == os.readlink(target)
    try:
        mine, other = source.stat(), target.stat()
        same_kind = mine.st_mode == other.st_mode and mine.st_size == other.st_size
        return same_kind and read_regular(source) == read_regular(target)
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
