"""What a session changes: the work tree when it begins, and which files are other ones later."""

from __future__ import annotations

from collections.abc import Callable

from samuel.errors import SamuelError
from samuel.paths import OF_THE_MOMENT
from samuel.printable import file_name
from samuel.process.git.git import Git, WorkTreeState


class ChangedFiles:
    def __init__(self, git: Git, warn: Callable[[str], None]) -> None:
        self._git = git
        self._warn = warn

    def look(self) -> WorkTreeState | None:
        """The work tree as it is now; nothing where git cannot say."""
        try:
            tree = self._git.work_tree() if self._git.available and self._git.is_repository else None
        except SamuelError:
            return None
        # A name that is not UTF-8 could not be written down.
        return tree if tree is None or all(path.isprintable() for path in tree.differing) else None

    def changed(self, since: WorkTreeState) -> list[str]:
        """Committed or not; what Samuel itself writes is left out."""
        try:
            found = self._git.changed_since(since)
        except SamuelError as error:
            self._warn(f"what was changed is not known: {error.message}")
            return []
        return [file_name(path) for path in found if not path.startswith(OF_THE_MOMENT)]
