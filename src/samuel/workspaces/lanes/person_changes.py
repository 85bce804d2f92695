"""What changes in the work tree of the person while agents work in lanes.

An agent may go there, and the person may be at work there: whose a change is cannot be known. So it is only named.
"""

from __future__ import annotations

from contextlib import suppress

from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name, listed
from samuel.git.git import Git, GitFailed, WorkTreeState
from samuel.workspaces.lanes.person_marks import PersonMarks
from samuel.workspaces.settle import TRAILER

MOST_NAMED = 5


class PersonChanges:
    """The files of the person's work tree, as they were when they were last looked at."""

    def __init__(self, git: Git, marks: PersonMarks) -> None:
        self._git = git
        self._marks = marks
        self._before = self._state()

    def files(self) -> list[str]:
        """A note about uncommitted files that changed since the last look; none if there are none.

        What landed is committed, so a work tree that follows the branch has no such file but one that is marked.
        """
        before, self._before = self._before, self._state()
        if before is None or self._before is None:
            return []
        now = self._before.differing
        changed = {path for path in now if now[path] != before.differing.get(path)}
        changed -= self._marks.paths(self._before.head) if changed else set()
        paths = [f"`{file_name(path)}`" for path in sorted(changed) if not path.startswith(VOLATILE_DIRS)]
        named = listed(paths, MOST_NAMED)
        return [f"while agents worked, files in your own work tree were changed: {named}"] if paths else []

    def commits(self, place: str, old: str, new: str) -> list[str]:
        """A note about commits that Samuel did not make; `place` is the branch, in words."""
        options = ("--format=%h %s", "--first-parent", "--invert-grep", f"--grep=^{TRAILER}: ")
        log = self._git.run("log", *options, f"{old}..{new}").decode("utf-8", "replace").splitlines()
        named = listed(log, MOST_NAMED, "; ")
        return [f"while agents worked, commits were made on {place}, which stay: {named}"] if log else []

    def _state(self) -> WorkTreeState | None:
        with suppress(GitFailed):
            return self._git.work_tree()
        return None
