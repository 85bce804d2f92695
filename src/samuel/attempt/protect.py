"""Files that an agent must not change while it works: the rules it is judged by.

A process of the same user can change them all the same, so this detects changes and does not prevent them. The run
goes on with what it pinned when it started; a change fails every iteration until the files are as they were.
"""

from __future__ import annotations

import os
from pathlib import Path

from samuel.base import paths
from samuel.files.survey import TooManyFiles, survey
from samuel.trust.digests import Digests


class Protected:
    """The protected files as they were when this was made."""

    def __init__(self, root: Path, beside: Protected | None = None) -> None:
        """`beside` are those of the project, if this is a lane of it: an agent may reach both."""
        self._beside = beside
        self._root = root
        self._digests = Digests()
        self._before = self._look()

    def changes(self) -> list[str]:
        """The names of the files that are not what they were."""
        now = self._look()
        names = {*self._before, *now}
        own = {name for name in names if self._before.get(name) != now.get(name)}
        return sorted(own.union(self._beside.changes() if self._beside else ()))

    def _look(self) -> dict[str, str]:
        digests: dict[str, str] = {}
        for place in paths.PROTECTED:
            path = self._root / place
            if path.is_symlink():
                digests[place] = f"link to {os.readlink(path)}"
            elif path.is_dir():
                digests |= self._directory(place, path)
            elif path.exists():
                status = path.stat()
                digests[place] = self._digests.of(
                    str(path), (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                )
        return digests

    def _directory(self, place: str, path: Path) -> dict[str, str]:
        try:
            # .samuel/run is the state of runs, and changes all the time.
            files = survey(path, skip=("run",) if place == paths.HOME else ())
        except TooManyFiles as error:
            return {place: str(error)}
        return {
            f"{place}/{name}": self._digests.of(str(path / name), signature) for name, signature in files.items()
        }
