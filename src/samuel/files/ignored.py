"""Directories that git should ignore, such as logs and the state of a run: each gets its own .gitignore."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.files import atomic
from samuel.files.inside import make_dirs_inside


def make_ignored_dirs(root: Path, *parts: str) -> int:
    """Open the directory at `parts` below `root`, made if it is not there.

    Only a new directory gets a .gitignore: a user who wants it in git removes that file for good.
    """
    is_new = not root.joinpath(*parts).exists()
    directory = make_dirs_inside(root, *parts, mode=0o755)
    if is_new:
        try:
            atomic.write_at(directory, ".gitignore", b"*\n", 0o644, durable=False)
        except OSError:
            os.close(directory)
            raise
    return directory
