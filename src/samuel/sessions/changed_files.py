"""The files that a session changes: the work tree is recorded when it begins and compared later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.git.git import Git, WorkTreeState


class ChangedFiles:
    def __init__(self, open_git: Callable[[], Git], warn: Callable[[str], None]) -> None:
        """`open_git` is called when it is needed: at the begin and the end of a session, not at each tool call."""
        self._open_git = open_git
        self._warn = warn

    @cached_property
    def _git(self) -> Git:
        return self._open_git()

    def current_state(self) -> WorkTreeState | None:
        """The state of the work tree now; None where git cannot tell."""
        try:
            tree = self._git.work_tree() if self._git.available and self._git.is_repository else None
        except SamuelError:
            return None
        # Names that are not UTF-8 cannot be stored in JSON.
        return tree if tree is None or all(path.isprintable() for path in tree.differing) else None

    def changed(self, since: WorkTreeState) -> list[str]:
        """The files that changed since then, committed or not, without those that Samuel itself writes."""
        try:
            paths = self._git.changed_since(since)
        except SamuelError as error:
            self._warn(f"cannot tell which files changed: {error.message}")
            return []
        return [file_name(path) for path in paths if not path.startswith(VOLATILE_DIRS)]
