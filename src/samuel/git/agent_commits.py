"""Commits that an agent made on the branch that is checked out, and taking them off it.

The branch and the index go back to where they were; files stay as they are, and a ref keeps the commits.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from samuel.git import worktrees
from samuel.git.git import Git
from samuel.git.index_state import follow_head
from samuel.git.kept_refs import KeptRefs
from samuel.git.ref_state import MESSAGE, named_ref, read_head, read_refs


class TakenCommits(NamedTuple):
    commits: tuple[str, ...] = ()
    """What git says of each, in a line; the newest first."""
    place: str = ""
    """Where they were, in words."""
    ref: str = ""


def take_back(git: Git, before: str, ref: str, staged: Collection[str]) -> TakenCommits:
    """Move HEAD with its branch back to the commit `before`, "" for none, and keep what it had in `ref`.

    `staged` are the paths that a person had staged and that were committed: they are staged again.
    Raises GitFailed.
    """
    head = git.head()
    if not head or head == before:
        return TakenCommits()
    since = f"{before}..{head}" if before else head
    commits = git.run("log", "--format=%h %s", since).decode("utf-8", "replace").splitlines()
    branch = read_head(git, read_refs(git)).branch
    KeptRefs(git).set_ref(ref, head)
    change = ["HEAD", before, head] if before else ["-d", "HEAD", head]
    worktrees.write(git, "update-ref", "-m", MESSAGE, *change)
    follow_head(git, head, before, staged)
    return TakenCommits(tuple(commits or [head[:12]]), named_ref(branch) if branch else "HEAD", ref)
