"""What becomes of the branch of a run: merged, proposed as a pull request, or discarded."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import NamedTuple

from samuel.base.errors import SamuelError, UsageError
from samuel.base.printable import shell_word
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import KeptRefs
from samuel.history.own_branch import (
    OwnBranch,
    commit_of,
    current,
    discarded_ref,
    point_head,
    refuse_under_way,
    remembered,
    remove,
)
from samuel.history.run import Run, own_branch_of
from samuel.process import spawn
from samuel.workspaces.lanes import person_tree

TIMEOUT = 600.0
COMMIT_FIRST = "commit or stash your changes first"


class Merged(NamedTuple):
    commit: str
    into: str


def branch_to_finish(git: Git, run: Run | None) -> OwnBranch:
    """The branch of a run that is checked out, or that of the last run. Raises UsageError if there is none."""
    here, recorded = current(git), run.own_branch if run else None
    if here and recorded and here.name == recorded.name:
        here = recorded  # an agent can change the refs of the repository
    of_run = own_branch_of(run) if run else None
    for branch in (here, of_run, recorded):
        if branch and commit_of(git, branch.name):
            return branch
    if of_run:
        raise UsageError(
            f"the branch `{of_run.name}` of the last run is finished already: it was merged or removed",
            "`samuel run start` begins the next run",
        )
    if run is None:
        raise UsageError("there is no run yet, so no branch to finish", "`samuel run start` begins one")
    raise UsageError(
        "the last run has no branch of its own with work on it",
        "`branch = true` in samuel.toml gives each run one, and a dirty work tree gives one to a run with lanes",
    )


def merge(git: Git, branch: OwnBranch) -> Merged:
    """Merge the branch and remove it. Raises SamuelError, and then nothing was merged.

    It is merged into the branch that it came from; one that came from a detached HEAD into what is checked out.
    """
    on = git.branch()
    if on == branch.name or branch.from_branch:
        into = _origin(git, branch)
        if on not in (branch.name, into):
            raise SamuelError(
                f"nothing was merged: `{branch.name}` came from `{into}`, and "
                + (f"`{on}` is checked out" if on else "your HEAD is detached"),
                f"`git switch {shell_word(into)}` and try again; "
                f"`git merge {shell_word(branch.name)}` merges it into what is checked out",
            )
    else:
        into = on
    if not into:
        raise SamuelError("your HEAD is detached", "check out the branch to merge into: `git switch BRANCH`")
    if on == branch.name:
        if _forward(git, branch, into):
            return Merged(git.head(), into)
        _refuse_changes(git, on)
        worktrees.write(git, "checkout", "--quiet", into, "--")
    try:
        _merge_here(git, branch, into)
    except SamuelError:
        if on == branch.name:
            worktrees.write(git, "checkout", "--quiet", on, "--")
        raise
    remove(git, branch.name)
    return Merged(git.head(), into)


def discard(git: Git, branch: OwnBranch) -> str:
    """Remove the branch; gives the commit that it had. Its work stays in the refs of the run.

    Where it is checked out, the work tree goes back to where it came from. Raises SamuelError if changes that are
    not committed would be lost.
    """
    commit = commit_of(git, branch.name)
    if git.branch() == branch.name:
        into = ["--detach", branch.start] if not branch.from_branch else [_origin(git, branch)]
        try:
            worktrees.write(git, "checkout", "--quiet", *into, "--")
        except GitFailed as error:
            raise SamuelError(
                f"nothing was discarded: `{branch.origin}` cannot be checked out: {error.message}", COMMIT_FIRST
            ) from None
    if remembered(git, branch.name):
        KeptRefs(git).set_ref(discarded_ref(branch.name), commit)
    remove(git, branch.name)
    return commit


def propose(git: Git, branch: OwnBranch, remote: str) -> str:
    """Push the branch and open a pull request with `gh`, where that is installed; gives what it printed."""
    env = {**git.owner_environment, "GIT_TERMINAL_PROMPT": "0"}
    git.call(["push", "--set-upstream", remote, branch.name], {"core.hooksPath": "/dev/null"}, TIMEOUT, env=env)
    program = shutil.which("gh", path=git.owner_environment.get("PATH", ""))
    if program is None:
        return ""
    base = ("--base", branch.from_branch) if branch.from_branch else ()
    argv = [program, "pr", "create", "--fill", "--head", branch.name, *base]
    done = spawn.run(argv, cwd=str(git.top), env=env, timeout=TIMEOUT)
    if done.ended != "exited" or done.returncode != 0:
        message = done.stderr.decode("utf-8", "replace").strip() or done.why
        raise SamuelError(f"`gh pr create` failed: {message}", f"`{branch.name}` is pushed; open it by hand")
    return done.stdout.decode("utf-8", "replace").strip()


def _origin(git: Git, branch: OwnBranch) -> str:
    """The branch that this one came from. Raises SamuelError if there is none, or none any more."""
    if not branch.from_branch:
        raise SamuelError(
            f"`{branch.name}` came from a detached HEAD, so there is no branch to merge into",
            "`git switch BRANCH`, then `samuel run finish --merge` merges it there",
        )
    if not commit_of(git, branch.from_branch):
        raise SamuelError(
            f"`{branch.name}` came from `{branch.from_branch}`, and there is no such branch any more",
            f"make it again: `git branch {shell_word(branch.from_branch)} {shell_word(branch.start[:12])}`",
        )
    return branch.from_branch


def _forward(git: Git, branch: OwnBranch, into: str) -> bool:
    """Move `into` forward to the branch that is checked out; False if it has commits of its own.

    HEAD then is `into`. No file is written: what is not committed stays as it is.
    """
    old, new = commit_of(git, into), commit_of(git, branch.name)
    try:
        git.run("merge-base", "--is-ancestor", old, new)
    except GitFailed:
        return False
    if elsewhere := [entry for entry in worktrees.entries(git) if entry.branch == into and entry.path.exists()]:
        raise SamuelError(
            f"nothing was merged: `{into}` is checked out in `{elsewhere[0].path}`",
            f"`git merge {shell_word(branch.name)}` there",
        )
    refuse_under_way(git)
    KeptRefs(git).transaction([f"update refs/heads/{into} {new} {old}"], f"samuel: merge {branch.name}")
    point_head(git, f"refs/heads/{into}", f"samuel: merged {branch.name}")
    remove(git, branch.name)
    return True


def _merge_here(git: Git, branch: OwnBranch, into: str) -> None:
    _refuse_changes(git, into)
    try:
        worktrees.write(git, "merge", "--quiet", "--no-edit", branch.name)
    except GitFailed as error:
        with suppress(GitFailed):  # it may not have begun
            worktrees.write(git, "merge", "--abort")
        raise SamuelError(
            f"`{branch.name}` conflicts with `{into}`, so nothing was merged: {error.message}",
            f"`git switch {shell_word(into)}` and `git merge {shell_word(branch.name)}` show the conflict",
        ) from None


def _refuse_changes(git: Git, branch: str) -> None:
    if why := person_tree.why_not(git, branch):
        lock = str(person_tree.index_lock(git))
        end_it = f"end it, then try again; if no git is at work, `rm {shell_word(lock)}`"
        raise SamuelError(f"nothing was merged: {why}", end_it if f"`{lock}`" in why else COMMIT_FIRST)
