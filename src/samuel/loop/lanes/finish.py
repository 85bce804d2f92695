"""What becomes of the branch of a run: merged where the person is, proposed as a pull request, or discarded."""

from __future__ import annotations

import shutil

from samuel.errors import SamuelError, UsageError
from samuel.loop.lanes import person_tree
from samuel.loop.run import Run, own_branch_of
from samuel.process import spawn
from samuel.process.git import worktrees
from samuel.process.git.git import Git, GitFailed

TIMEOUT = 600.0


def branch_to_finish(run: Run | None) -> str:
    """The branch of the last run's own. Raises UsageError if it has none."""
    if run is None or not (branch := own_branch_of(run)):
        raise UsageError(
            "the last run has no branch of its own with work on it",
            "`branch = true` in samuel.toml gives each run one, and a dirty work tree does too",
        )
    return branch


def merge(git: Git, branch: str) -> str:
    """Merge the branch into the one that is checked out, and remove it; gives the commit. Raises SamuelError."""
    into = person_tree.checked_out(git)
    if not into:
        raise SamuelError("your HEAD is detached", "check out the branch to merge into: `git switch BRANCH`")
    if why := person_tree.why_not(git, into):
        raise SamuelError(f"nothing was merged: {why}", "commit or stash your changes first")
    try:
        worktrees.write(git, "merge", "--quiet", "--no-edit", branch)
    except GitFailed as error:
        worktrees.write(git, "merge", "--abort")
        raise SamuelError(
            f"`{branch}` conflicts with `{into}`, so nothing was merged: {error.message}",
            f"`git merge {branch}` shows the conflict",
        ) from None
    _remove(git, branch)
    return git.head()


def discard(git: Git, branch: str) -> str:
    """Remove the branch; gives the commit that it had. Its work stays in the refs of the run."""
    commit = git.run("rev-parse", "--verify", f"refs/heads/{branch}").decode().strip()
    _remove(git, branch)
    return commit


def propose(git: Git, branch: str, remote: str, into: str) -> str:
    """Push the branch and open a pull request with `gh`, where that is installed; gives what it printed."""
    env = {**git.owner_environment, "GIT_TERMINAL_PROMPT": "0"}
    git.call(["push", "--set-upstream", remote, branch], {"core.hooksPath": "/dev/null"}, TIMEOUT, env=env)
    program = shutil.which("gh", path=git.owner_environment.get("PATH", ""))
    if program is None:
        return ""
    argv = [program, "pr", "create", "--fill", "--head", branch, *(("--base", into) if into else ())]
    done = spawn.run(argv, cwd=str(git.top), env=env, timeout=TIMEOUT)
    if done.ended != "exited" or done.returncode != 0:
        message = done.stderr.decode("utf-8", "replace").strip() or done.why
        raise SamuelError(f"`gh pr create` failed: {message}", f"`{branch}` is pushed; open it by hand")
    return done.stdout.decode("utf-8", "replace").strip()


def _remove(git: Git, branch: str) -> None:
    worktrees.write(git, "branch", "--quiet", "-D", branch)
