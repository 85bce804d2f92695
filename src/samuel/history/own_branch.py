"""The branch of a run's own, `samuel/<run>`, in the work tree of the person who started it.

HEAD is pointed at it without a checkout: it begins with the same commit, so no file and no index changes. A ref
remembers which branch was checked out before, so that it is known whatever becomes of the state of the run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from samuel.base.errors import SamuelError
from samuel.base.printable import shell_word
from samuel.git import worktrees
from samuel.git.git import Git, branch_ref
from samuel.git.kept_refs import DISCARDED, OWN, KeptRefs, branch_prefix, commits_by_ref
from samuel.git.repository_state import under_way


class OwnBranch(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    from_branch: str
    """The branch that was checked out before; "" if HEAD was detached."""
    start: str
    """The commit that it began with."""

    @property
    def origin(self) -> str:
        """Where it came from, for people."""
        return self.from_branch or f"a detached HEAD at {self.start[:12]}"


def own_branch(run_id: str) -> str:
    return f"{OWN}/{run_id}"


def name_clash(git: Git) -> str:
    """Why no branch of a run's own can be made here; "" if one can."""
    return f"there is a branch `{OWN}`" if commit_of(git, OWN) else ""


def refuse_name_clash(git: Git, branch: str, more: str = "") -> None:
    """Raise SamuelError if the branch cannot be made."""
    if clash := name_clash(git):
        raise SamuelError(
            f"`{branch}` cannot be made, because {clash}{more}", f"rename it: `git branch -m {OWN} OTHER`"
        )


def refuse_under_way(git: Git) -> None:
    """Raise SamuelError if a merge, a rebase or the like waits to be continued: then HEAD must not move."""
    for command in under_way(git).values():
        end = "`git bisect reset`" if command == "bisect" else f"`git {command} --continue` or `--abort`"
        raise SamuelError(f"a {command} is under way, so no other branch can be checked out", f"end it: {end}")


def commit_of(git: Git, branch: str) -> str:
    """The commit of a branch; "" if there is no such branch."""
    ref = branch_ref(branch)
    return commits_by_ref(git, ref).get(ref, "")


def current(git: Git) -> OwnBranch | None:
    """The branch of a run that is checked out and was not finished; None for any other branch."""
    if not git.is_repository or not (name := git.branch()).startswith(f"{OWN}/"):
        return None
    return remembered(git, name)


def remembered(git: Git, name: str) -> OwnBranch | None:
    """What the ref of a run's branch remembers; None if it has none."""
    prefix = branch_prefix(name)
    for ref, start in commits_by_ref(git, prefix).items():
        kind, _, from_branch = ref.removeprefix(prefix).partition("/")
        if kind in ("from", "detached"):
            return OwnBranch(name=name, from_branch=from_branch, start=start)
    return None


def choose_branch(git: Git, run_id: str, before: OwnBranch | None, *, make: bool) -> OwnBranch | None:
    """The branch that a run works on; None for the one that is checked out. Changes nothing. Raises SamuelError.

    `before` is the branch of a run that goes on, or that of the run before if it is checked out. `make` is whether
    a run makes one. A run that begins on an unfinished branch of another run goes on with that.
    """
    if not git.is_repository or not (head := git.head()):
        return None
    on = git.branch()
    if before is not None and (tip := commit_of(git, before.name)):
        if on != before.name and tip != head:
            raise SamuelError(
                f"the last run works on the branch `{before.name}`, and "
                + (f"`{on}` is checked out" if on else "your HEAD is detached"),
                f"`git switch {shell_word(before.name)}`, then start again",
            )
        if on != before.name:
            refuse_under_way(git)
        return before
    if unfinished := current(git):
        return unfinished
    if not make:
        return None
    refuse_name_clash(git, own_branch(run_id))
    refuse_under_way(git)
    return OwnBranch(name=own_branch(run_id), from_branch=on, start=head)


def enter(git: Git, branch: OwnBranch, *, resumed: bool) -> None:
    """Make the branch if there is none, and point HEAD at it. Idempotent: a killed run does it again."""
    if resumed:
        _sweep_locks(git, branch)
    ref, refs = branch_ref(branch.name), KeptRefs(git)
    if remembered(git, branch.name) is None:
        kind = f"from/{branch.from_branch}" if branch.from_branch else "detached"
        refs.set_ref(f"{branch_prefix(branch.name)}{kind}", branch.start)
    if not commit_of(git, branch.name):
        refs.transaction([f"create {ref} {branch.start}"], f"samuel: branch of {branch.origin}")
    if git.branch() != branch.name:
        point_head(git, ref, f"samuel: work on {branch.name}")


def leave_if_empty(git: Git, branch: OwnBranch) -> bool:
    """Go back to where the branch came from, and remove it, if it has no commit; whether that was done."""
    if git.branch() != branch.name or git.head() != branch.start:
        return False
    if branch.from_branch:
        if commit_of(git, branch.from_branch) != branch.start or worktrees.other_with(git, branch.from_branch):
            return False
        point_head(git, branch_ref(branch.from_branch), f"samuel: nothing on {branch.name}")
    else:
        worktrees.write(git, "update-ref", "--no-deref", "HEAD", branch.start)
    remove(git, branch.name)
    return True


def point_head(git: Git, ref: str, reason: str) -> None:
    """Let HEAD be this branch, which has the same commit: no file is written."""
    worktrees.write(git, "symbolic-ref", "-m", reason, "HEAD", ref)


def remove(git: Git, name: str) -> None:
    """Remove the branch and what is remembered of it."""
    worktrees.write(git, "branch", "--quiet", "-D", name)
    forget(git, name)


def forget(git: Git, name: str) -> None:
    """Remove the ref that remembers where a branch came from."""
    prefix = branch_prefix(name)
    lines = [f"delete {ref}" for ref in commits_by_ref(git, prefix) if not ref.endswith(f"/{DISCARDED}")]
    if lines:
        KeptRefs(git).transaction(lines, "samuel: finished")


def discarded_ref(name: str) -> str:
    """The ref that holds the commits of a branch that was discarded."""
    return f"{branch_prefix(name)}{DISCARDED}"


def _sweep_locks(git: Git, branch: OwnBranch) -> None:
    """Remove the locks that a killed git of ours left. Raises SamuelError if another git holds one."""
    place = git.location()
    names: Sequence[str] = [
        os.path.relpath(place.directory / "HEAD.lock", place.shared),
        f"{branch_ref(branch.name)}.lock",
    ]
    if left := worktrees.sweep_shared_locks(git, names):
        raise SamuelError(
            f"git holds `{left[0]}` in `{place.shared}`", "wait until it has ended, then start again"
        )
