"""The files of Samuel itself: a server whose program was replaced ends soon."""

from __future__ import annotations

import os

import samuel
from samuel.files.survey import Signature, TooManyFiles, survey_place


class OwnFiles:
    """The files of the package as they were when this process started."""

    def __init__(self) -> None:
        self._before = _package_files()

    def changed(self) -> bool:
        """Whether any of them is not what it was, as after an update or in a working copy of Samuel."""
        return _package_files() != self._before


def _package_files() -> dict[str, Signature]:
    try:
        return survey_place(os.path.dirname(samuel.__file__))
    except (OSError, TooManyFiles):
        return {}
