"""Landing work on a branch: merging without a work tree, and moving refs in one transaction.

A transaction moves the branch from the very commit that was merged with, and creates a ref for each task that must
not exist yet. So nothing lands on what it was not merged with, and nothing lands twice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import KeptRefs, commits_by_ref, landed_prefix, landed_ref, work_prefix, work_ref
from samuel.git.merge_tree import merged_commits
from samuel.git.own_index import OwnIndex

OLDEST = (2, 38)  # the first with `merge-tree --write-tree`
MOST_CONFLICTS = 10  # files of a conflict that are shown
LONGEST_CONFLICT = 1500  # characters of one file


class Merge(NamedTuple):
    """What merging a commit onto another comes to."""

    tree: str
    conflicts: tuple[str, ...] = ()
    """The paths that both changed in ways that do not fit."""
    hunks: str = ""
    """The conflicting parts, with markers."""


class RefChange(NamedTuple):
    ref: str
    new: str
    """"" if it must not exist any more."""
    old: str
    """What it must be before; "" if it must not exist."""


class LandingRefs:
    """The refs of one run in the repository of `git`, and merges of its commits."""

    def __init__(self, git: Git, own: OwnIndex, run: str) -> None:
        self._git = git
        self._own = own
        self._run = run
        self._run_refs = KeptRefs(git)
        self._facts: dict[str, tuple[str, tuple[str, ...]]] = {}  # by commit, which never changes

    def work_ref(self, task: str, attempt: int) -> str:
        return work_ref(self._run, task, attempt)

    def landed_ref(self, task: str) -> str:
        return landed_ref(self._run, task)

    def of(self, *names: str) -> dict[str, str]:
        """The commits of these refs, by name; one that does not exist is left out."""
        return {name: commit for name, commit in commits_by_ref(self._git, *names).items() if name in names}

    def landed(self) -> dict[str, str]:
        """What this run has landed, by ref."""
        return commits_by_ref(self._git, landed_prefix(self._run))

    def work(self) -> dict[str, str]:
        """What is ready or was, by ref."""
        return commits_by_ref(self._git, work_prefix(self._run))

    def hold(self, ref: str, commit: str) -> None:
        """Let `ref` hold the commit, whatever it held."""
        self._run_refs.set_ref(ref, commit)

    def merge(self, tip: str, work: str) -> Merge:
        """What a merge of two commits comes to. Raises GitFailed."""
        tree, names = merged_commits(self._own, tip, work)
        return Merge(tree, names, "\n".join(self._hunks(tree, name) for name in names[:MOST_CONFLICTS]))

    def _hunks(self, tree: str, path: str) -> str:
        """The parts of a file in conflict; a line that says so if it has none, as when one side removed it."""
        try:
            content = self._own.call("cat-file", "blob", f"{tree}:{path}").decode("utf-8", "replace")
        except GitFailed:
            content = ""
        lines: list[str] = []
        inside = False
        for line in content.splitlines():
            inside = inside or line.startswith("<<<<<<< ")
            if inside:
                lines.append(line)
            if line.startswith(">>>>>>> "):
                inside = False
        text = "\n".join(lines) or "(removed on one side, or not text)"
        return f"{path}:\n{text[:LONGEST_CONFLICT]}"

    def touching(self, base: str, tip: str, paths: Sequence[str]) -> list[str]:
        """The commits between the two that changed one of these paths, newest first."""
        names = [os.fsencode(path).decode("utf-8", "surrogateescape") for path in paths[:MOST_CONFLICTS]]
        output = self._git.run("log", "--format=%h %s", "--max-count=10", f"{base}..{tip}", "--", *names)
        return output.decode("utf-8", "replace").splitlines()

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A new commit, which no ref holds yet."""
        commit = self._run_refs.commit(tree, parents, message)
        self._facts[commit] = (tree, tuple(parents))
        return commit

    def facts(self, *commits: str) -> list[tuple[str, tuple[str, ...]]]:
        """The tree and the parents of each commit."""
        if unknown := [commit for commit in commits if commit not in self._facts]:
            output = self._git.run("log", "--no-walk=unsorted", "--format=%H %T %P", *unknown).decode()
            rows = [line.split() for line in output.splitlines()]
            self._facts |= {row[0]: (row[1], tuple(row[2:])) for row in rows}
        return [self._facts[commit] for commit in commits]

    def is_ancestor(self, older: str, newer: str) -> bool:
        if older == newer:
            return True
        try:
            self._git.run("merge-base", "--is-ancestor", older, newer)
        except GitFailed:
            return False
        return True

    def change(self, changes: Sequence[RefChange], reason: str) -> None:
        """Make all of these changes, or none. Raises GitFailed if a ref is not what it must be."""
        lines = ["start"]
        for ref, new, old in changes:
            words = f"update {ref} {new} {old}" if old else f"create {ref} {new}"
            lines.append(words if new else f"delete {ref} {old}")
        self._run_refs.transaction([*lines, "prepare", "commit"], reason)


class ChangedPaths(NamedTuple):
    """What differs between two commits."""

    paths: tuple[str, ...]
    added: tuple[str, ...]
    """Those of them that the first one does not have."""


def changed_paths(git: Git, old: str, new: str) -> ChangedPaths:
    output = git.run("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new)
    fields = [os.fsdecode(field) for field in output.split(b"\0")[:-1]]
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    return ChangedPaths(tuple(path for _, path in pairs), tuple(path for status, path in pairs if status == "A"))


def differing(git: Git, old: str, new: str, paths: Sequence[str] = ()) -> list[str]:
    """The paths that differ between two commits, of all or below these."""
    output = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--", *paths)
    return [os.fsdecode(name) for name in output.split(b"\0")[:-1]]
