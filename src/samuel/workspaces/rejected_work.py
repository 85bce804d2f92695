"""Taking back the work on a completed task that a person rejected: one commit on the branch that has it.

Idempotent: a commit that a killed process made is recognised by its message, and the rest is done again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from samuel.base.errors import SamuelError
from samuel.base.printable import file_name
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.git.git import Git, GitFailed, branch_ref
from samuel.git.kept_refs import PREFIX, commits_by_ref, part
from samuel.git.landing import LandingRefs, RefChange, changed_paths
from samuel.git.own_index import OwnIndex
from samuel.git.trees import Trees
from samuel.history.run import Run
from samuel.history.steering import Rejection
from samuel.tasks.origin import OriginFile, TaskOrigin
from samuel.tasks.write_back import with_task_unmarked
from samuel.workspaces.lanes import person_tree

REJECTIONS = "rejections"
"""The directory in the record of a run for the index that reverts are made with."""


class TakenBack(NamedTuple):
    """What came of taking work back."""

    commit: str = ""
    """The commit that reverts the work; "" if there is none."""
    conflicts: tuple[str, ...] = ()
    """The files that keep it from being reverted: what came later does not fit, or is not committed."""
    problems: tuple[str, ...] = ()


class _Revert(NamedTuple):
    """A revert that can be made."""

    ref: str
    tip: str
    tree: str
    followed: bool
    """Whether the work tree has this branch checked out."""


class RejectedWork:
    def __init__(self, git: Git, directory: Path, origins: OriginFile, run_id: str, branch: str) -> None:
        """`directory` is Samuel's own. `branch` is that of the last run, if it has one of its own."""
        self._git = git
        self._origins = origins
        self._branch = branch
        self._refs = LandingRefs(git, OwnIndex(git, directory), run_id)
        self._trees = Trees(git, directory)

    def conflicts(self, rejection: Rejection) -> tuple[str, ...]:
        """The files that would keep the work from being taken back now."""
        if not rejection.commit or self._made(rejection, self._place_of(rejection)[1]):
            return ()
        planned = self._planned(rejection)
        return () if isinstance(planned, _Revert) else planned

    def take_back(self, rejection: Rejection) -> TakenBack:
        """Revert the work, if it has a commit, and its marks in the source. Raises SamuelError."""
        commit = ""
        if rejection.commit:
            ref, tip, followed = self._place_of(rejection)
            commit = self._made(rejection, tip)
            if not commit:
                planned = self._planned(rejection)
                if not isinstance(planned, _Revert):
                    return TakenBack(conflicts=planned)
                commit = self._refs.commit(planned.tree, [planned.tip], self._message(rejection))
                landed = self._refs.landed_ref(rejection.task)
                gone = [RefChange(name, "", old) for name, old in self._refs.of(landed).items()]
                change = RefChange(ref, commit, planned.tip)
                self._refs.change([change, *gone], f"samuel: task {rejection.task} was rejected")
            if followed and self._git.head() == commit:
                person_tree.follow(self._git, self._parent(commit), commit)
        return TakenBack(commit, problems=tuple(self._unmark(rejection)))

    def _place_of(self, rejection: Rejection) -> tuple[str, str, bool]:
        """The branch that has the work as a ref, its tip, and whether it is checked out. Raises SamuelError."""
        name, head = self._git.branch(), self._git.head()
        if head and self._refs.is_ancestor(rejection.commit, head):
            return branch_ref(name) if name else "HEAD", head, True
        ref = branch_ref(self._branch) if self._branch else ""
        tip = commits_by_ref(self._git, ref).get(ref, "") if ref else ""
        if tip and self._refs.is_ancestor(rejection.commit, tip):
            return ref, tip, False
        raise SamuelError(
            f"the commit {rejection.commit[:12]} of task `{rejection.task}` is neither in HEAD nor on the branch "
            "of the last run",
            "check out the branch that has it, and reject it there",
        )

    def _made(self, rejection: Rejection, tip: str) -> str:
        """The commit that took the work back already; "" if there is none."""
        commits = self._git.run(
            "log", "--format=%H", "--fixed-strings", f"--grep={rejection.mark}", f"{rejection.commit}..{tip}"
        )
        return next(iter(commits.decode().split()), "")

    def _planned(self, rejection: Rejection) -> _Revert | tuple[str, ...]:
        """The revert, or the files that keep it from being made."""
        ref, tip, followed = self._place_of(rejection)
        work, base = self._work_of(rejection)
        # A commit that takes the work back at once, merged with all that came later, is its revert.
        merge = self._refs.merge(tip, self._refs.commit(self._tree_of(base), [work], "samuel: without the work\n"))
        sources = dict(self._open_sources(rejection.task, tip, base))
        prefix = self._git.location().prefix.decode("utf-8", "surrogateescape")
        names = {f"{prefix}{path}" for path in sources}
        if conflicts := tuple(path for path in merge.conflicts if path not in names):
            return tuple(map(file_name, conflicts))
        tree = self._trees.with_contents(merge.tree, sources)
        if followed:
            changed = set(changed_paths(self._git, tip, tree).paths)
            dirty = {f"{prefix}{entry.path}" for entry in self._git.status().entries}
            if blocked := sorted(changed & dirty):
                return tuple(map(file_name, blocked))
        return _Revert(ref, tip, tree, followed)

    def _work_of(self, rejection: Rejection) -> tuple[str, str]:
        """The commit with the work on the task alone, and the commit that it began with."""
        commit = rejection.commit
        parents = self._refs.facts(commit)[0][1]
        if len(parents) < 2:
            return commit, parents[0] if parents else ""
        # A landing merges the work of several tasks: that of this one is in a ref of its own.
        of_task = f"/work/{part(rejection.task)}/"
        works = {sha for ref, sha in commits_by_ref(self._git, f"{PREFIX}/").items() if of_task in ref}
        merges = self._git.run("log", "--first-parent", "--merges", "--format=%H %P", "--max-count=1000", commit)
        for line in merges.decode().splitlines():
            _, before, *others = line.split()
            if works.intersection(others):
                work = next(sha for sha in others if sha in works)
                return work, self._git.run("merge-base", before, work).decode().strip()
        return commit, parents[0]

    def _tree_of(self, commit: str) -> str:
        return self._refs.facts(commit)[0][0] if commit else self._git.empty_tree()

    def _parent(self, commit: str) -> str:
        return self._refs.facts(commit)[0][1][0]

    def _message(self, rejection: Rejection) -> str:
        subject = (
            self._git.run("log", "--no-walk", "--format=%s", rejection.commit).decode("utf-8", "replace").strip()
        )
        return (
            f'Revert "{subject}"\n\nThis reverts commit {rejection.commit}.\n'
            f"{rejection.who} rejected task {rejection.task}: {rejection.why}\n\n{rejection.mark}\n"
        )

    # The marks of the task in the file that it came from

    def _own_sources(self, task: str) -> Iterator[tuple[str, TaskOrigin]]:
        """The paths below the root of the sources in which the task is marked."""
        root = os.path.realpath(self._git.root)
        for origin in self._origins.load().origins:
            if origin.write_back and task in origin.items:
                for file in origin.files:
                    path = os.path.relpath(os.path.realpath(file), root)
                    if not path.startswith(".."):
                        yield path, origin

    def _open_sources(self, task: str, tip: str, base: str) -> Iterator[tuple[str, bytes]]:
        """The sources of the tip with the task open again: marks of other tasks beside it do not fit a merge."""
        for path, origin in self._own_sources(task):
            now, before = self._content(tip, path), self._content(base, path)
            if now is None or before is None or now == before:
                continue
            with suppress(SamuelError):  # it can no longer be read as tasks: then the merge decides
                content = with_task_unmarked(origin, self._git.root / path, now, before, task)
                if content is not None:
                    yield path, content

    def _unmark(self, rejection: Rejection) -> Iterator[str]:
        """Open the task again in sources whose mark is not committed; why one could not be."""
        for path, origin in self._own_sources(rejection.task):
            file = self._git.root / path
            reference = self._content("HEAD", path) if self._git.is_repository else None
            if reference is None:
                yield f"task `{rejection.task}` is still marked in `{file_name(path)}`, which git does not have"
                continue
            with suppress(OSError, SamuelError):  # it is gone, or can no longer be read as tasks
                content = with_task_unmarked(origin, file, read_regular(file), reference, rejection.task)
                if content is not None:
                    atomic.write_bytes(file, content)

    def _content(self, commit: str, path: str) -> bytes | None:
        prefix = self._git.location().prefix.decode("utf-8", "surrogateescape")
        try:
            return self._git.run("cat-file", "blob", f"{commit}:{prefix}{path}") if commit else None
        except GitFailed:
            return None


def branch_of(run: Run | None) -> str:
    """The branch that the work of a run is on; "" for the one that is checked out."""
    if run is None:
        return ""
    return run.lanes.branch if run.lanes is not UNSET else run.own_branch.name if run.own_branch else ""


def rejected_words(rejection: Rejection, taken: TakenBack) -> str:
    """What came of a rejection, for people."""
    name = f"task `{rejection.task}` is pending"
    if taken.conflicts:
        files = ", ".join(f"`{path}`" for path in taken.conflicts[:10])
        return f"{name}, and its work stays: {files} changed since, or is not committed"
    if not taken.commit:
        return f"{name}; it has no commit, so its work stays in the files"
    return f"{name}; {taken.commit[:12]} reverts {rejection.commit[:12]}"
