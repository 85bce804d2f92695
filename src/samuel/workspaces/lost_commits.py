"""Completed tasks whose commit is not in the history of HEAD: it was reset, amended or rebased away, or it is on
the branch of another run, which waits for `samuel run finish`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from samuel.base.printable import shell_word
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import BEFORE, OWN, PREFIX
from samuel.tasks.task import Task, Tasks

HEADS = "refs/heads/"
OWN_BRANCHES = f"{HEADS}{OWN}/"
MOST = 500  # commits that are looked for
MOST_LINES = 3
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class LostCommit(NamedTuple):
    task: Task
    ref: str
    """A branch that has the commit, or else a ref of Samuel; "" if only the commit itself is left."""

    @property
    def words(self) -> str:
        branch = self.ref.removeprefix(HEADS)
        if self.ref.startswith(OWN_BRANCHES):
            return (
                f"task {self.task.id} is on `{branch}`, which is not finished; `git switch {shell_word(branch)}` "
                "goes there, then `samuel run finish --merge` merges it"
            )
        where = f"the branch `{branch}` has it" if branch != self.ref else f"`{self.ref}` has it"
        commit = self.task.commit_sha
        taken = f"`git cherry-pick {shell_word(commit[:12])}` takes it over"
        return (
            f"task {self.task.id} is completed, but its commit {commit[:12]} is not in HEAD any more; "
            f"{f'{where}, ' if self.ref else ''}{taken}"
        )


def lost_commits(git: Git, tasks: Tasks, branch: str = "") -> list[LostCommit]:
    """The completed tasks whose commit exists and is not in the history of HEAD, nor on `branch`."""
    done = [task for task in tasks if task.status == "completed" and _COMMIT.fullmatch(task.commit_sha)][-MOST:]
    if not done or not git.is_repository:
        return []
    with suppress(GitFailed):  # there is no HEAD
        outside = set(_outside(git, [task.commit_sha for task in done]))
        refs = _refs_with_commits(git) if outside else {}
        lost = [LostCommit(task, refs.get(task.commit_sha, "")) for task in done if task.commit_sha in outside]
        return [commit for commit in lost if not branch or commit.ref != f"{HEADS}{branch}"]
    return []


def lost_lines(lost: Sequence[LostCommit]) -> list[str]:
    """What is said of them: the first few, and how many more there are."""
    lines = [commit.words for commit in lost[:MOST_LINES]]
    if (more := len(lost) - MOST_LINES) > 0:
        lines.append(f"{more} more completed tasks are not in HEAD; `samuel run status --json` lists them")
    return lines


def _outside(git: Git, commits: Sequence[str]) -> list[str]:
    return git.run("rev-list", "--ignore-missing", *commits, "--not", "HEAD").decode().split()


def _refs_with_commits(git: Git) -> dict[str, str]:
    """A ref for each commit that is not in HEAD; a branch of a run rather than another one, and a branch first."""
    refs: dict[str, str] = {}
    for place in (f"{PREFIX}/", HEADS, OWN_BRANCHES):
        options = (f"--exclude={PREFIX}/*/{BEFORE}", f"--glob={place}*", "--not", "HEAD")
        output = git.run("log", "--source", "--format=%H %S", *options).decode("utf-8", "replace")
        refs |= dict(line.split(" ", 1) for line in output.splitlines())
    return refs
