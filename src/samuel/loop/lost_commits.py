"""Completed tasks whose commit is not in the history of HEAD any more: it was reset, amended or rebased away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from samuel.printable import shell_word
from samuel.process.git.git import Git, GitFailed
from samuel.process.git.kept_refs import BEFORE
from samuel.tasks.task import Task, Tasks

OWN_BRANCHES = "refs/heads/samuel/"  # of runs: what is there waits for `samuel run finish`
MOST = 500  # commits that are looked for
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class LostCommit(NamedTuple):
    task: Task
    ref: str
    """A branch that has the commit, or else a ref of Samuel; "" if only the commit itself is left."""

    @property
    def words(self) -> str:
        branch = self.ref.removeprefix("refs/heads/")
        where = f"the branch `{branch}` has it" if branch != self.ref else f"`{self.ref}` has it"
        commit = self.task.commit_sha
        taken = f"`git cherry-pick {shell_word(commit[:12])}` takes it over"
        return f"its commit {commit[:12]} is not in HEAD any more; {f'{where}, ' if self.ref else ''}{taken}"


def lost_commits(git: Git, tasks: Tasks) -> list[LostCommit]:
    """The completed tasks whose commit exists and is not in the history of HEAD, nor on a branch of a run."""
    done = [task for task in tasks if task.status == "completed" and _COMMIT.fullmatch(task.commit_sha)][-MOST:]
    if not done or not git.is_repository:
        return []
    with suppress(GitFailed):  # there is no HEAD
        outside = set(_outside(git, [task.commit_sha for task in done]))
        lost = [LostCommit(task, _ref_with(git, task.commit_sha)) for task in done if task.commit_sha in outside]
        return [commit for commit in lost if not commit.ref.startswith(OWN_BRANCHES)]
    return []


def _outside(git: Git, commits: Sequence[str]) -> list[str]:
    return git.run("rev-list", "--ignore-missing", *commits, "--not", "HEAD").decode().split()


def _ref_with(git: Git, commit: str) -> str:
    output = git.run("for-each-ref", "--format=%(refname)", "--contains", commit, "refs/heads", "refs/samuel")
    names = [name for name in output.decode("utf-8", "replace").split() if not name.endswith(f"/{BEFORE}")]
    preferred = (OWN_BRANCHES, "refs/heads/", "")
    return next((name for prefix in preferred for name in names if name.startswith(prefix)), "")
