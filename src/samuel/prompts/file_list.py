"""Which files a project has, by git's account, or by a walk where there is no git.

Git knows which of its files are unchanged without our asking the disk about each of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from samuel.git.git import Git, GitFailed

MOST_WALKED = 20_000
SKIPPED = frozenset(
    (
        *(b".git", b".hg", b".svn", b"node_modules", b"bower_components", b"vendor", b"target", b"dist", b"build"),
        *(b".venv", b"venv", b"__pycache__", b".tox", b".mypy_cache", b".pytest_cache", b".ruff_cache", b".cache"),
    )
)
"""What a .gitignore would have named, had there been one."""
OWN = b".samuel/run/"
"""Samuel's own state is not part of the project, unless it was committed."""


class FileList(NamedTuple):
    """Every file, in one of two groups. What is listed may be gone, or no regular file: look before counting."""

    clean: dict[bytes, bytes]
    """Tracked and unchanged, with the id of its content."""
    loose: list[bytes]
    """What git does not vouch for: changed, untracked, or hidden from it by a flag."""
    head: str = ""
    branch: str = ""
    cut: bool = False
    """There were more files than a walk takes."""


def look(root: Path, git: Git) -> FileList:
    try:
        return _by_git(git) if git.is_repository else _by_walk(root)
    except GitFailed:  # a broken repository is still a directory full of files
        return _by_walk(root)


def _by_git(git: Git) -> FileList:
    status = git.status()
    changed = {os.fsencode(entry.path) for entry in status.entries if entry.unstaged not in ".?"}
    untracked = (os.fsencode(entry.path) for entry in status.entries if entry.unstaged == "?")
    loose = [*changed, *(path for path in untracked if not path.startswith(OWN))]
    clean = {}
    for line in git.run("ls-files", "--stage", "-v", "-z").split(b"\0")[:-1]:
        # "H 100644 0123… 0<TAB>path": H is an ordinary entry, 100 a regular file (and not a link or a submodule).
        about, _, path = line.partition(b"\t")
        if path in changed or about[2:5] != b"100":
            continue
        if about[:1] == b"H":
            clean[path] = about[9:-2]
        else:  # skip-worktree or assume-unchanged: git trusts the flag, and we do not
            loose.append(path)
    return FileList(clean, loose, status.head, status.branch)


def _by_walk(root: Path) -> FileList:
    files = list(islice(_walk(os.fsencode(root)), MOST_WALKED + 1))
    return FileList({}, files[:MOST_WALKED], cut=len(files) > MOST_WALKED)


def _walk(root: bytes) -> Iterator[bytes]:
    """Regular files, shallow ones first, so that a walk that is cut has seen the outline."""
    level = [b""]
    while level:
        below = []
        for directory in level:
            try:
                entries = sorted(os.scandir(os.path.join(root, directory)), key=lambda entry: entry.name)
            except OSError:  # not ours to read, or gone
                continue
            for entry in entries:
                path = directory + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and path + b"/" != OWN:
                        below.append(path + b"/")
                elif entry.is_file(follow_symlinks=False):
                    yield path
        level = below
