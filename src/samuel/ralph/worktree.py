"""What changed in the project's files between two looks: by git's word, or file by file where there is no git."""

from __future__ import annotations

from pathlib import Path

from samuel.errors import SamuelError
from samuel.paths import OF_THE_MOMENT
from samuel.process.git import Git
from samuel.process.git import WorkTree as GitLook
from samuel.trust.content import Signature, TooMuch, spoken, survey

Look = GitLook | dict[str, Signature]


class WorkTree:
    def __init__(self, root: Path, git: Git) -> None:
        self._root = root
        self._git = git

    def look(self) -> Look:
        if self._git.is_repository:
            return self._git.work_tree()
        try:
            return survey(self._root)
        except (TooMuch, OSError):
            return {}

    def changed(self, before: Look) -> list[str]:
        """The paths that are not what they were, committed or not; our own state is left out."""
        if isinstance(before, GitLook):
            paths = self._git.changed_since(before)
        else:
            now = self.look()
            assert isinstance(now, dict)
            paths = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
        return [spoken(path) for path in paths if not path.startswith(OF_THE_MOMENT)]

    def dirty(self) -> list[str]:
        """What is not committed, by path. A name that is not UTF-8 cannot be written down, and is left out."""
        if not self._git.is_repository:
            return []
        try:
            paths = [
                entry.path for entry in self._git.status().entries if not entry.path.startswith(OF_THE_MOMENT)
            ]
        except SamuelError:
            return []
        return [path for path in paths if path == spoken(path)]
