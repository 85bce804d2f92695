"""Which files a project has, by git's account, or by a walk where there is no git.

Git knows which of its files are unchanged without our asking the disk about each of them. And while its index is
the same file as last time, so is the list of them: then all we need to hear is what differs.
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


class Last(NamedTuple):
    """What is remembered from the last time."""

    index_stamp: bytes
    changed: frozenset[bytes]


class FileList(NamedTuple):
    """Every file, in one of three groups. What is listed may be gone, or no regular file: look before counting."""

    clean: dict[bytes, bytes] | None
    """Tracked and unchanged, with the id of its content. None: the same ones as last time, less `changed`."""
    changed: list[bytes]
    """Tracked, and different from what git has."""
    untracked: list[bytes]
    index_stamp: bytes = b""
    """What tells whether the index is the same next time; b"" says that it is not."""
    head: str = ""
    branch: str = ""
    cut: bool = False
    """There were more files than a walk takes."""


def look(root: Path, git: Git, last: Last) -> FileList:
    try:
        return _by_git(git, last) if git.is_repository else _by_walk(root)
    except GitFailed:  # a broken repository is still a directory full of files
        return _by_walk(root)


def _by_git(git: Git, last: Last) -> FileList:
    index = _signature(git.index_file)  # before asking: an index replaced meanwhile is another one next time
    status = git.status()
    changed, untracked = [], []
    for entry in status.entries:
        path = os.fsencode(entry.path)
        if entry.unstaged == "?":
            if not path.startswith(OWN):
                untracked.append(path)
        elif entry.unstaged != ".":
            changed.append(path)
    same = bool(index) and index == last.index_stamp and last.changed.issubset(changed)
    clean, unsure = (None, []) if same else _tracked(git, frozenset(changed))
    if unsure:
        changed += unsure
        index = b""
    return FileList(clean, changed, untracked, index, status.head, status.branch)


def _tracked(git: Git, changed: frozenset[bytes]) -> tuple[dict[bytes, bytes], list[bytes]]:
    """The tracked files that status did not mention; and those of them that it is told not to look at."""
    clean, unsure = {}, []
    for line in git.run("ls-files", "--stage", "-v", "-z").split(b"\0")[:-1]:
        # "H 100644 0123… 0<TAB>path": H is an ordinary entry, 100 a regular file (and not a link or a submodule).
        about, _, path = line.partition(b"\t")
        if path in changed or about[2:5] != b"100":
            continue
        if about[:1] == b"H":
            clean[path] = about[9:-2]
        else:  # skip-worktree or assume-unchanged: git trusts the flag, and we do not
            unsure.append(path)
    return clean, unsure


def _by_walk(root: Path) -> FileList:
    files = list(islice(_walk(os.fsencode(root)), MOST_WALKED + 1))
    return FileList({}, [], files[:MOST_WALKED], cut=len(files) > MOST_WALKED)


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


def _signature(index: Path) -> bytes:
    try:
        index_stat = os.stat(index)
    except OSError:
        return b""
    return repr((index_stat.st_size, index_stat.st_mtime_ns, index_stat.st_ctime_ns, index_stat.st_ino)).encode()
