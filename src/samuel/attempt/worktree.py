"""Which of the project's files changed between two moments: by git, or file by file where there is no repository.

An agent may do to the repository whatever git can do: make one, hide it behind another, drop the commit that it
began with. Changes are detected all the same. Only a repository that is gone or broken is an error.

What an attempt of a run changed is not asked here but of Samuel's own index (`Attempts.observe`): the one of the
repository says what an agent lets it say.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.files.survey import Signature, TooManyFiles, survey
from samuel.git.git import Git, GitFailed, WorkTreeState

T = TypeVar("T")
TICK_NS = 20_000_000  # the kernel stamps files with a clock that may be a tick behind


class RepositoryLost(SamuelError):
    """The repository that the work began in is gone, or git cannot read it any more."""


class ProjectState(NamedTuple):
    """The project's files at one moment."""

    at_ns: int
    by_git: WorkTreeState | None
    by_file: dict[str, Signature]  # where there is no repository


class ProjectFiles:
    def __init__(self, root: Path, git: Git) -> None:
        self._root = root
        self._git = git

    def current_state(self) -> ProjectState:
        """The files as they are now. Raises RepositoryLost."""
        at_ns = time.time_ns() - TICK_NS
        if not self._has_repository():
            return ProjectState(at_ns, None, self._survey())
        try:
            return ProjectState(at_ns, self._git.work_tree(), {})
        except GitFailed as error:
            raise self._lost(error.message) from None

    def in_repository(self, look: Callable[[], T]) -> T:
        """What `look` at the repository gives. Raises RepositoryLost if it cannot be used any more."""
        self._has_repository()
        try:
            return look()
        except GitFailed as error:
            raise self._lost(error.message) from None

    def changed(self, before: ProjectState) -> list[str]:
        """The paths that are not what they were, committed or not. Raises RepositoryLost."""
        self._has_repository()
        if before.by_git is None:
            now = self._survey()
            paths = {path for path in {*before.by_file, *now} if before.by_file.get(path) != now.get(path)}
        else:
            paths = self._changed_by_git(before.by_git, before.at_ns)
        return [file_name(path) for path in sorted(paths) if not path.startswith(VOLATILE_DIRS)]

    def dirty(self) -> list[str]:
        """The paths that are not committed. A name that is not UTF-8 cannot be written to run.json: left out."""
        if not self._git.is_repository:
            return []
        try:
            paths = [
                entry.path for entry in self._git.status().entries if not entry.path.startswith(VOLATILE_DIRS)
            ]
        except SamuelError:
            return []
        return [path for path in paths if path == file_name(path)]

    def excluded_from_commits(self, *, commit: bool) -> list[str]:
        """The paths that a run which begins now must not commit.

        Without a repository these are all files: an agent may make one.
        """
        if self._git.is_repository or not commit:
            return self.dirty()
        return sorted(
            path for path in self._survey() if path == file_name(path) and not path.startswith(VOLATILE_DIRS)
        )

    def _changed_by_git(self, before: WorkTreeState, at_ns: int) -> set[str]:
        try:
            paths = set(self._git.changed_since(before))
        except GitFailed:  # the commit it began with is gone, for example: history was rewritten and pruned
            try:
                paths = set(self._git.files())
            except GitFailed as error:
                raise self._lost(error.message) from None
            paths = {path for path in paths if _changed_after(self._root / path, at_ns)}
        if self._is_hidden():
            paths |= {path for path in self._survey() if _changed_after(self._root / path, at_ns)}
        return paths

    def _has_repository(self) -> bool:
        """Whether there is one; one that appeared counts. Raises RepositoryLost where there was one before."""
        if not self._git.is_repository:
            return False
        if not self._git.index_file.parent.is_dir():
            raise self._lost("it is not there any more")
        return True

    def _is_hidden(self) -> bool:
        """Whether another repository was made at the root of a project inside a larger one: git then passes over
        what lies in it."""
        return os.path.lexists(self._root / ".git") and self._git.top != self._root.resolve()

    def _lost(self, why: str) -> RepositoryLost:
        return RepositoryLost(
            f"the git repository `{self._git.index_file.parent}` cannot be used: {why}",
            "restore it before the next run: without it, changes cannot be detected",
        )

    def _survey(self) -> dict[str, Signature]:
        try:
            return {
                path: signature for path, signature in survey(self._root).items() if ".git" not in path.split("/")
            }
        except (TooManyFiles, OSError):
            return {}


def _changed_after(path: Path, at_ns: int) -> bool:
    try:
        return os.lstat(path).st_ctime_ns >= at_ns
    except OSError:
        return False
