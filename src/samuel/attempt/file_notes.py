"""What a person has to know about the files of an attempt: large ones, those that no ref has, those outside."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from samuel.base.printable import file_name, listed
from samuel.files.put_inside import ASIDE
from samuel.git.git import Git, GitFailed, WorkTreeState

LARGE = 50_000_000
"""Bytes of a file that is named: GitHub warns of larger ones, and refuses those of 100 MB."""
MAX_NAMED = 10


def file_notes(
    root: Path, changed: Iterable[str], not_kept: Mapping[str, str], outside: Sequence[str], *, commit: bool
) -> tuple[str, ...]:
    """The notes about the files that an attempt changed; `outside` are those beside the project, from the top."""
    notes = []
    sizes = {path: _size(root / path) for path in changed if path not in not_kept}
    large_files = [f"`{file_name(path)}` ({size // 1_000_000} MB)" for path, size in sizes.items() if size > LARGE]
    unkept_files = [f"`{file_name(path)}` ({why})" for path, why in not_kept.items()]
    committed = "the commit of a completed task has them; tell git to ignore what should not be there"
    if large_files:
        stay = committed if commit else "they stay in the work tree of a completed task"
        notes.append(f"large files were added or changed: {listed(large_files, MAX_NAMED)}; {stay}")
    if unkept_files:
        stay = f"{committed}; " if commit else ""
        notes.append(
            f"files that no ref can have were added or changed: {listed(unkept_files, MAX_NAMED)}; "
            f"{stay}where they have to be removed, they are moved to `.samuel/run/{ASIDE}`"
        )
    if outside:
        named = listed([f"`{file_name(path)}`" for path in outside], MAX_NAMED)
        notes.append(
            f"files of the repository outside of the project were changed: {named}; they are neither judged nor "
            "committed nor put back; the ref of a failed attempt has them"
        )
    return tuple(notes)


class OutsideFiles:
    """The files of a repository beside the project, which is a directory of it: which of them changed."""

    def __init__(self, git: Git, record: Path | None) -> None:
        """`record` is the directory of the run in the user's state, which may lie in the repository as well."""
        location = git.location()
        self._prefix = os.fsdecode(location.prefix)
        own = os.path.relpath(record.parents[1], location.top) if record else ""
        self._left_out = (self._prefix, f"{own}/") if own else (self._prefix,)
        self._whole = Git(location.top, git.owner_environment)
        self._before: WorkTreeState | None = None

    def begin(self) -> None:
        if self._prefix:
            with suppress(GitFailed):
                self._before = self._whole.work_tree()

    def changed(self) -> list[str]:
        """The paths that changed since `begin`, from the top of the work tree; none if that cannot be told."""
        if self._before is None:
            return []
        try:
            paths = self._whole.changed_since(self._before)
        except GitFailed:  # the commit it began with is gone
            return []
        return [path for path in paths if not path.startswith(self._left_out)]


def _size(file: Path) -> int:
    try:
        return os.lstat(file).st_size
    except OSError:
        return 0
