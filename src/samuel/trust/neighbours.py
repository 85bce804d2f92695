"""Which files are trusted together with one that is run: a program can load whatever lies beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from samuel.base import paths
from samuel.files.survey import TooManyFiles, survey


def single_file_directories(root: Path) -> frozenset[str]:
    """Where a file that is run counts alone: in the root, and where agents write files of their own."""
    return frozenset((str(root), *(str(root / directory) for directory in paths.CLIENT_DIRS)))


def with_neighbours(root: Path, running: Iterable[str]) -> dict[str, Path]:
    """The files that are run, by name, with the other files in their directories (see above for exceptions)."""
    there = sorted(path for path in dict.fromkeys(running) if os.path.isfile(path))
    alone = single_file_directories(root)
    files = {os.path.relpath(path, root): Path(path) for path in there if os.path.dirname(path) in alone}
    for directory in dict.fromkeys(map(os.path.dirname, there)):
        if directory not in alone:
            files |= _inside(directory, root)
    return files


def _inside(directory: str, root: Path) -> dict[str, Path]:
    relative = os.path.relpath(directory, root)
    try:
        names = sorted(survey(directory))
    except (OSError, TooManyFiles):
        return {relative: Path(directory)}  # as something that cannot be read, rather than not at all
    return {os.path.join(relative, name): Path(directory, name) for name in names}
