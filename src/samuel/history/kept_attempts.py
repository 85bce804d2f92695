"""Attempts that were kept in refs: which there are, and putting one back into the work tree."""

from __future__ import annotations

from typing import NamedTuple

from samuel.git.git import Git
from samuel.git.kept_refs import KeptRef, KeptRefs
from samuel.git.trees import Trees
from samuel.history.path_set import PathSet


class RestorePlan(NamedTuple):
    """What putting a kept attempt back into the work tree means, path by path."""

    tree: str
    paths: tuple[str, ...]
    """As they were when the attempt began: they can be written."""
    conflicts: tuple[str, ...]
    """Changed since by something else."""


def restore_plan(trees: Trees, ref: KeptRef) -> RestorePlan:
    """Compare the attempt, what it began with, and the work tree as it is now."""
    base = trees.refs.tree_of(ref.parent)
    now = trees.snapshot()
    missing = trees.differing(base, ref.tree) & trees.differing(ref.tree, now)
    elsewhere = PathSet(trees.differing(base, now))
    conflicts = {path for path in missing if elsewhere.touches(path)}
    return RestorePlan(ref.tree, tuple(sorted(missing - conflicts)), tuple(sorted(conflicts)))


def kept_attempt(git: Git, run: str | None, task: str, attempt: int = 0) -> KeptRef | None:
    """The newest kept attempt of a task, or the one of this number; None for none."""
    if not git.is_repository:
        return None
    refs = [ref for ref in KeptRefs(git).refs(run or "", task) if attempt in (0, ref.attempt)]
    return refs[-1] if refs else None
