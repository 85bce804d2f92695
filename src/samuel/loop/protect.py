"""What an agent must not change while it works: the rules it is judged by.

Against a process of the same user this is evidence, not a wall. The run goes on with what it pinned when it
started; a change fails the iteration, loudly, until somebody looks.
"""

from __future__ import annotations

import os
from pathlib import Path

from samuel import paths
from samuel.files.survey import TooManyFiles, survey
from samuel.trust.digests import Digests

WATCHED = (paths.CONFIG, paths.HOME, ".system/hooks", ".kodelet/hooks")


class Protected:
    """The protected files as they were when this was made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._digests = Digests()
        self._before = self._look()

    def changes(self) -> list[str]:
        """Which of them are not what they were, by name."""
        now = self._look()
        names = {*self._before, *now}
        return sorted(name for name in names if self._before.get(name) != now.get(name))

    def _look(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for place in WATCHED:
            path = self._root / place
            if path.is_symlink():
                found[place] = f"link to {os.readlink(path)}"
            elif path.is_dir():
                found |= self._directory(place, path)
            elif path.exists():
                status = path.stat()
                found[place] = self._digests.of(
                    str(path), (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                )
        return found

    def _directory(self, place: str, path: Path) -> dict[str, str]:
        try:
            # .samuel/run is the state of runs, and changes all the time.
            files = survey(path, skip=("run",) if place == paths.HOME else ())
        except TooManyFiles as error:
            return {place: str(error)}
        return {f"{place}/{name}": self._digests.of(str(path / name), found) for name, found in files.items()}
