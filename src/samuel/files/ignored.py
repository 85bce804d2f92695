"""Directories beside people's files that hold what is of the moment: git is told not to look at them."""

from __future__ import annotations

import os
from pathlib import Path

from samuel.files import atomic
from samuel.files.inside import make_dirs_inside


def make_ignored_dirs(root: Path, *parts: str) -> int:
    """Open the directory at `parts` below `root`, made if it is not there.

    Only then it gets its .gitignore: whoever wants it in git removes that file, and it stays away.
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
