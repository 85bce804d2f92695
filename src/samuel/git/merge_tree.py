"""Merging two commits without a work tree."""

from __future__ import annotations

from samuel.git.git import GitFailed
from samuel.git.own_index import OwnIndex


def merged_commits(own: OwnIndex, tip: str, work: str) -> tuple[str, tuple[str, ...]]:
    """The tree of a merge, and the paths in conflict. No driver that a configuration names takes part.

    Raises GitFailed, also where git is too old for that.
    """
    own.prepare()
    done = own.try_call("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", tip, work)
    tree, *paths = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    names = tuple(dict.fromkeys(path for path in paths if path))
    if done.returncode == 0:
        return tree, ()
    if done.returncode != 1 or not names:
        raise GitFailed(f"`git merge-tree` failed: {done.stderr.decode(errors='replace').strip()}")
    return tree, names
