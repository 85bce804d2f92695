"""Putting files of the attempt under way back as they are in the verified tree.

Which ones is saved before they are written, so that a kill does not lose what the attempt has there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from samuel.git.trees import Trees
from samuel.history.attempts import Attempts


class PutBack:
    """Puts files of one attempt; `save` writes the state of the attempts to disk."""

    def __init__(self, trees: Trees, attempts: Attempts, save: Callable[[], None]) -> None:
        self._trees = trees
        self._attempts = attempts
        self._save = save

    def verified(self, paths: Iterable[str]) -> list[str]:
        """Make these paths what they are in the verified tree; gives why a path could not be made so."""
        names = sorted(paths)
        if not names:
            return []
        self._attempts.hold(names)
        self._save()
        return self._trees.put(self._attempts.state.verified, names)

    def persons(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Give a person those of these paths back that they had changed before the attempt; the paths.

        What the attempt has there is in its ref.
        """
        names = tuple(sorted(path for path in paths if self._attempts.is_persons(path)))
        return names if names and not self.verified(names) else ()
