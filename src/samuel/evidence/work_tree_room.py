"""Showing trees to checks in the work tree itself, for `evidence = "in place"`: what git ignores is the agent's.

Files are put, and the attempt's own put back afterwards. Which ones is saved before they are written, so that a
kill does not lose what the attempt has there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from samuel.evidence.check_directory import RoomFailed
from samuel.git.trees import Trees
from samuel.history.attempts import Attempts

MOST_NAMED = 10


class WorkTreeRoom:
    """The work tree of an attempt, whose own files are those of the tree `own`."""

    is_clean = False

    def __init__(self, trees: Trees, attempts: Attempts, own: str, save: Callable[[], None]) -> None:
        """`save` writes the state of the attempts to disk."""
        self._trees = trees
        self._attempts = attempts
        self._own = own
        self._save = save

    @contextmanager
    def showing(self, tree: str) -> Iterator[None]:
        """Let check commands run on this tree. Raises RoomFailed."""
        paths = sorted(self._trees.differing(self._own, tree))
        if not paths:
            yield
            return
        self._attempts.hold(paths)
        self._save()
        problems = self._trees.put(tree, paths)
        try:
            if not problems:
                yield
        finally:
            if not (not_put_back := self._trees.put(self._own, paths)):  # else the attempt keeps what it had there
                self._attempts.hold(())
                self._save()
            problems += not_put_back
        if problems:
            text = "; ".join(problems[:MOST_NAMED])
            raise RoomFailed(f"files could not be put back: {text}", "make them writable for the user of the run")

    def changed(self) -> dict[str, bytes | None]:
        return {}  # the attempt is looked at again after the checks
