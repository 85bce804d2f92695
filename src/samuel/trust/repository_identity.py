"""What decides which repository a project belongs to, read without the imports of `repository.py`."""

from __future__ import annotations

import os
import stat

from samuel.files.regular import read_regular
from samuel.files.survey import signature_if_exists
from samuel.trust.repository import LONGEST_LINK


def repository_identity(root: str) -> tuple[object, ...]:
    """A value that stays the same while `repository.trust_key` does; () without a repository."""
    at, above = root, os.path.dirname(root)
    while True:
        git = f"{at}/.git"
        try:
            is_directory = stat.S_ISDIR(os.stat(git).st_mode)
        except OSError:
            is_directory = None
        if is_directory and os.path.exists(f"{git}/HEAD"):
            return at, os.path.realpath(git) if os.path.islink(git) else ""
        if is_directory is False:  # a worktree or a submodule: the file leads to its git directory
            return at, *_of_file(at, git)
        if at == above:
            return ()
        at, above = above, os.path.dirname(above)


def _of_file(directory: str, git: str) -> tuple[object, ...]:
    try:
        text = os.fsdecode(read_regular(git, LONGEST_LINK)).strip()
    except OSError:
        return ("",)
    own = os.path.join(directory, text.removeprefix("gitdir:").strip())
    return text, signature_if_exists(f"{own}/commondir")
