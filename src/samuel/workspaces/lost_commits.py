"""Completed tasks whose commit is not in the history of HEAD: it was reset, amended or rebased away, or it is on
the branch of another run, which waits for `samuel run finish`. Or no repository has it any more, because `.git`
was removed or replaced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from samuel.base.printable import listed, shell_word
from samuel.git.git import HEADS, Git, GitFailed, branch_ref
from samuel.git.kept_refs import BEFORE, OWN, PREFIX
from samuel.tasks.task import Task, Tasks

OWN_BRANCHES = f"{HEADS}{OWN}/"
MOST = 500  # commits that are looked for
MOST_LINES = 3
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class LostCommit(NamedTuple):
    task: Task
    ref: str
    """A branch that has the commit, or else a ref of Samuel; "" if only the commit itself is left."""
    is_missing: bool = False
    """Whether git does not have the commit at all."""

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
    """The completed tasks whose commit is not in the history of HEAD, nor on `branch`; the missing ones first."""
    done = [task for task in tasks if task.status == "completed" and _COMMIT.fullmatch(task.commit_sha)][-MOST:]
    if not done:
        return []
    if not git.is_repository:
        return [LostCommit(task, "", is_missing=True) for task in done]
    missing = _missing(git, [task.commit_sha for task in done])
    gone = [LostCommit(task, "", is_missing=True) for task in done if task.commit_sha in missing]
    with suppress(GitFailed):  # there is no HEAD
        outside = set(_outside(git, [task.commit_sha for task in done]))
        refs = _refs_with_commits(git) if outside else {}
        lost = [LostCommit(task, refs.get(task.commit_sha, "")) for task in done if task.commit_sha in outside]
        return [*gone, *(commit for commit in lost if not branch or commit.ref != branch_ref(branch))]
    return gone


def lost_lines(lost: Sequence[LostCommit]) -> list[str]:
    """What is said of them: the first few, and how many more there are."""
    missing = [commit for commit in lost if commit.is_missing]
    lost = [commit for commit in lost if not commit.is_missing]
    lines = [_missing_words(missing)] if missing else []
    lines += [commit.words for commit in lost[:MOST_LINES]]
    if (more := len(lost) - MOST_LINES) > 0:
        lines.append(f"{more} more completed tasks are not in HEAD; `samuel run status --json` lists them")
    return lines


def _missing_words(missing: Sequence[LostCommit]) -> str:
    commits = [f"{commit.task.commit_sha[:12]} (task {commit.task.id})" for commit in missing]
    named = listed(commits, MOST_LINES)
    return (
        f"the commits of completed tasks are in no repository here: {named}; `.git` was removed or "
        "replaced. Restore it from a copy, or fetch it from where you pushed it; to go on without it, commit what "
        "is in the work tree: `git init` and `git add -A`"
    )


def _missing(git: Git, commits: Sequence[str]) -> set[str]:
    """Those of the commits that the repository does not have."""
    with suppress(GitFailed):
        lines = "".join(f"{commit}\n" for commit in commits)
        output = git.call(["cat-file", "--batch-check"], stdin=lines.encode()).decode()
        return {line.split(" ")[0] for line in output.splitlines() if line.endswith(" missing")}
    return set()


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
