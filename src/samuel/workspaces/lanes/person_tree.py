"""The work tree of the person who started the run: it follows the branch while it is clean."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import listed
from samuel.files.regular import read_regular
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed, GitStatus
from samuel.git.landing import differing

TRIES = 20  # while another git holds the index
PAUSE = 0.1


def index_lock(git: Git) -> Path:
    """The file that a git makes while it changes the index of the work tree."""
    return git.index_file.with_name("index.lock")


def why_not(
    git: Git,
    branch: str,
    added: Sequence[str] = (),
    status: GitStatus | None = None,
    marked: Collection[str] = (),
) -> str:
    """Why the work tree cannot follow the branch; "" if it can.

    `added` are the paths that it would get, `marked` those with marks of completed tasks and no other change.
    """
    status = status or git.status()
    if status.branch != branch:
        return f"your work tree has `{status.branch}` checked out" if status.branch else "your HEAD is detached"
    if not _index_is_free(git):
        return f"another git, or an editor that it waits for, holds `{index_lock(git)}`"
    changed = _changed(status, marked)
    if changed and git.filter_drivers():
        # To a git without filters, what LFS or the like wrote a moment ago seems changed.
        status = worktrees.status(git)
        changed = _changed(status, marked)
    if changed:
        return f"your work tree has uncommitted changes: {listed([f'`{path}`' for path in changed], 1)}"
    untracked = [entry.path for entry in status.entries if entry.unstaged == "?"]
    for path in (path for path in added if os.path.lexists(git.top / path)):
        if path in untracked or not git.run("ls-files", "--", f":(top,literal){path}"):
            return f"your work tree has an untracked `{path}`, which landed too"
    return ""


def _changed(status: GitStatus, marked: Collection[str]) -> list[str]:
    """The paths of tracked files that are not as they are in the commit, without those with marks alone."""
    return [
        entry.path
        for entry in status.entries
        if entry.unstaged != "?"
        and not entry.path.startswith(VOLATILE_DIRS)
        and not (entry.path in marked and entry.staged == ".")
    ]


def _index_is_free(git: Git) -> bool:
    """Whether no git holds the index, or soon stops to: most hold it for a moment."""
    lock = index_lock(git)
    for _ in range(TRIES):
        if not os.path.lexists(lock):
            return True
        time.sleep(PAUSE)
    return False


def follow(git: Git, old: str, new: str) -> None:
    """Bring a clean work tree from `old` to `new`, after its branch moved. Idempotent. Raises GitFailed.

    What is not as in one of the two is a person's: then nothing is written.
    """
    first: GitFailed | None = None
    for _ in range(TRIES):
        try:
            worktrees.write(git, "read-tree", "-m", "-u", old, new)
            return
        except GitFailed as error:
            if "index.lock': File exists" in error.message:
                time.sleep(PAUSE)
                continue
            if first:
                raise first from None  # the second one only says what the first one left
            first = error
            with suppress(GitFailed):  # a file that was only touched
                worktrees.write(git, "update-index", "-q", "--refresh")
            _take_in(git, old, new)
    raise SamuelError("another git holds the index of your work tree", "`git reset --keep` when it has ended")


def _take_in(git: Git, old: str, new: str) -> None:
    """Take files that are already as in `new` into the index: a follow that was killed wrote them.

    A file that has only the beginning of its content is removed: a full disk or a kill cut it off, and `new` has
    all that is in it.
    """
    arrived = []
    for path in differing(git, old, new):
        if _is_as_in(git, new, path):
            arrived.append(path)
        elif _is_beginning(git, new, path):
            os.unlink(git.top / path)
    if arrived:
        names = b"".join(os.fsencode(path) + b"\0" for path in arrived)
        worktrees.write(git, "update-index", "--add", "--remove", "-z", "--stdin", stdin=names)


def _is_as_in(git: Git, commit: str, path: str) -> bool:
    entry = git.run("ls-tree", "-z", commit, "--", f":(top,literal){path}").decode("utf-8", "surrogateescape")
    file = git.top / path
    if not entry:
        return not os.path.lexists(file)
    if file.is_symlink() or not file.is_file():
        return False
    blob = worktrees.write(git, "hash-object", f"--path={path}", "--", str(file)).decode().strip()
    return blob == entry.partition("\t")[0].split()[2]


def _is_beginning(git: Git, commit: str, path: str) -> bool:
    """Whether the file has less than the commit has at its path, and nothing else."""
    file = git.top / path
    if file.is_symlink() or not file.is_file():
        return False
    try:
        whole = worktrees.write(git, "cat-file", "--filters", f"--path={path}", f"{commit}:{path}")
    except GitFailed:  # the commit does not have it
        return False
    return whole.startswith(read_regular(file))
