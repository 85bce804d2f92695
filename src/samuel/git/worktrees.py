"""Linked work trees that Samuel makes for itself: made once, reset to a commit, and locks of a killed git removed.

Files are written as the owner set git up (their filters), and no git hook runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import file_name, shell_word
from samuel.files.regular import read_regular
from samuel.git.commit import WRITING, forget
from samuel.git.git import HEADS, STATUS, Git, GitFailed, GitStatus
from samuel.git.output import parse_status
from samuel.git.settings import value_of
from samuel.process import procfs

TIMEOUT = 600.0  # of writing a whole tree
PATIENCE = 2.0  # seconds that another git may hold a lock
SETTINGS = {**WRITING, "core.hooksPath": "/dev/null", "advice.detachedHead": "false"}

OWN_LOCKS = ("index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.worktree.lock", "logs/HEAD.lock")
"""The locks of one work tree, in a directory of its own."""
SHARED_LOCKS = ("config.lock", "packed-refs.lock", "shallow.lock")
"""The locks that all work trees have in common."""


class WorktreeEntry(NamedTuple):
    """A work tree of the repository, as git lists it."""

    path: Path
    head: str
    branch: str
    """"" when detached."""


def write(
    git: Git, *args: str, stdin: bytes = b"", timeout: float = TIMEOUT, settings: Mapping[str, str] = SETTINGS
) -> bytes:
    """What a git command printed that writes: with the owner's filters, without hooks. Raises GitFailed."""
    git.location()
    env = {**git.owner_environment, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return git.call(list(args), settings, timeout, stdin=stdin, env=env)


def add(git: Git, path: Path, commit: str) -> None:
    """Make a work tree with a detached HEAD: without a branch, git writes no configuration and locks nothing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(git, "worktree", "add", "--force", "--detach", str(path), commit)


def remove(git: Git, path: Path) -> None:
    """Remove a work tree with all that is in it."""
    write(git, "worktree", "remove", "--force", "--force", str(path))


def status(git: Git) -> GitStatus:
    """What `Git.status` gives, with the owner's filters."""
    prefix = git.location().prefix
    options = ("--ignore-submodules=all", *STATUS, *(("--", ".") if prefix else ()))
    return parse_status(write(git, "status", *options), prefix)


def entries(git: Git) -> list[WorktreeEntry]:
    """The work trees of the repository, the main one first."""
    listed = []
    output = git.run("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape")
    for block in output.split("\0\0"):
        fields = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if path := fields.get("worktree"):
            branch = fields.get("branch", "").removeprefix(HEADS)
            listed.append(WorktreeEntry(Path(path), fields.get("HEAD", ""), branch))
    return listed


def other_with(git: Git, branch: str) -> Path | None:
    """The work tree other than this one that has the branch checked out: git lets only one have it."""
    return next((entry.path for entry in entries(git) if entry.branch == branch and entry.path != git.top), None)


def linked(git: Git) -> dict[str, str]:
    """Where the linked work trees of the repository are, by the names that git gave them."""
    paths = {}
    for file in sorted((git.location().shared / "worktrees").glob("*/gitdir")):
        with suppress(OSError):
            paths[file.parent.name] = os.path.dirname(os.fsdecode(read_regular(file)).rstrip("\n"))
    return paths


def linked_notes(before: Mapping[str, str], now: Mapping[str, str], who: str) -> list[str]:
    """What became of the linked work trees, and the command that takes it back."""
    new = [path for name, path in now.items() if name not in before]
    gone = [path for name, path in before.items() if name not in now]
    return [
        *(
            f"{who} made the work tree `{file_name(path)}`, which stays: "
            f"`git worktree remove {shell_word(path)}` removes it"
            for path in new
        ),
        *(
            f"{who} removed the work tree `{file_name(path)}`; "
            f"`git worktree add {shell_word(path)} BRANCH` makes it again"
            for path in gone
        ),
    ]


def reset(tree: Git, commit: str, leave: Sequence[str] = (), *, is_sparse: bool = False) -> None:
    """Make the work tree the commit. Ignored files stay, and so do the untracked paths in `leave`.

    `is_sparse`: the owner checks out a part of the repository only; an agent's sparse checkout does not count.
    """
    forget(tree, _flagged(tree, is_sparse=is_sparse))
    settings = SETTINGS if is_sparse else {**SETTINGS, "core.sparseCheckout": "false"}
    write(tree, "checkout", "--quiet", "--force", "--detach", commit, settings=settings)
    top = "/".join(".." for _ in range(tree.location().prefix.count(b"/"))) or "."
    excluded = [f"--exclude=/{path}" for path in leave] if top == "." else [f"--exclude={path}" for path in leave]
    write(tree, "clean", "-ffdq", *excluded, "--", top)


def is_sparse(git: Git) -> bool:
    """Whether the owner checks out a part of the repository only."""
    return value_of(git.settings(), "core.sparsecheckout").lower() in ("true", "yes", "on", "1")


def _flagged(tree: Git, *, is_sparse: bool) -> list[str]:
    """The files whose changes git was told not to see, without those that a sparse checkout leaves out."""
    flagged = []
    for entry in tree.run("ls-files", "-v", "-z").split(b"\0")[:-1]:
        tag, path = entry[:1], os.fsdecode(entry[2:])
        if tag.islower() or (tag == b"S" and not (is_sparse and not os.path.lexists(tree.root / path))):
            flagged.append(path)
    return flagged


def sweep_locks(directory: Path, names: Sequence[str]) -> list[str]:
    """Remove lock files that a killed git of ours left in a git directory; their names."""
    removed = []
    for name in names:
        with suppress(FileNotFoundError, NotADirectoryError):
            (directory / name).unlink()
            removed.append(name)
    return removed


def lock_names(git: Git, *, shared: bool = True) -> list[str]:
    """The locks that git may leave beside those of refs, from the directory that all work trees have in common.

    `shared` False: only those of this work tree.
    """
    place = git.location()
    own = [os.path.relpath(place.directory / name, place.shared) for name in OWN_LOCKS]
    return [*own, *(SHARED_LOCKS if shared else ())]


def locks_below(directory: Path, *places: str) -> list[str]:
    """The lock files below these places of a git directory."""
    return [
        os.path.relpath(os.path.join(parent, name), directory)
        for place in places
        for parent, _, names in os.walk(directory / place)
        for name in names
        if name.endswith(".lock")
    ]


def wait_for_others(directory: Path) -> None:
    """Wait for a git in this directory to end: one that a killed process started ends by itself."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and procfs.running_in("git", str(directory)):
        time.sleep(0.02)


def sweep_shared_locks(git: Git, names: Sequence[str], *, shared: bool = True) -> list[str]:
    """Remove locks that a git which was ended may have left where people work too; those that stay are named.

    Another git holds a lock for a moment, or while an editor is open: then the lock stays. With
    `shared` False the locks are those of this work tree, so that a git in another one does not hold them.
    """
    directory, tops = git.location().shared, {git.top}
    if shared:
        with suppress(GitFailed):
            tops |= {entry.path for entry in entries(git)}
    until = time.monotonic() + PATIENCE
    while (left := [name for name in names if (directory / name).exists()]) and time.monotonic() < until:
        if not any(procfs.running_in("git", str(top)) for top in tops):
            sweep_locks(directory, left)
            return []
        time.sleep(0.05)
    return left
