"""The branch of a run's own in the work tree of its user: where HEAD is at the start and the end of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.run.conftest import GOOD, LoopProject

from samuel.base.errors import SamuelError
from samuel.git.git import Git
from samuel.history.notices import BranchEntered, LoopWarning, RunEnded
from samuel.history.own_branch import choose_branch, current, enter, leave_if_empty
from samuel.history.run import Run
from samuel.history.run_file import RunFile
from samuel.process import environment

BAD = "echo bad > bad.txt\nexit 1\n"


@pytest.fixture
def branched(loop: LoopProject) -> LoopProject:
    """A project whose runs have branches of their own; everything in it is committed."""
    loop.configure('branch = true\nquality_checks = ["test ! -f broken"]')
    loop.tasks("1")
    with open(loop.root / ".git/info/exclude", "a") as ignored:
        ignored.write(".samuel/run/\n.venv/\n")
    git(loop, "add", "-A")
    git(loop, "commit", "-q", "-m", "second")
    return loop


def git(loop: LoopProject, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=loop.root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def on(loop: LoopProject) -> str:
    return git(loop, "branch", "--show-current")


def branches(loop: LoopProject) -> list[str]:
    return git(loop, "branch", "--format=%(refname:short)").split()


def subjects(loop: LoopProject, branch: str = "HEAD") -> list[str]:
    return git(loop, "log", "--format=%s", branch).split("\n")


def ended(loop: LoopProject) -> RunEnded:
    return next(report for report in reversed(loop.reports) if isinstance(report, RunEnded))


def killed(loop: LoopProject, run: Run) -> None:
    """Make the run one that was killed before its end."""
    run_file(loop).save(replace(run, exit_reason=None))


def run_file(loop: LoopProject) -> RunFile:
    state = loop.root / ".samuel/run"
    return RunFile(state, loop.project.user.record(state))


def test_tasks_are_committed_on_a_new_branch_which_stays_checked_out(branched: LoopProject) -> None:
    (branched.root / ".venv").mkdir()
    (branched.root / ".venv/installed").write_text("ignored by git, and there for the agent\n")
    branched.agent("test -f .venv/installed\n" + GOOD)
    git(branched, "commit", "-q", "-am", "third")

    run = branched.run()

    assert on(branched) == f"samuel/{run.run_id}"
    assert subjects(branched) == ["1 Task 1", "third", "second", "begin"]
    assert subjects(branched, "main") == ["third", "second", "begin"]
    assert (branched.root / "work-1.txt").exists()
    assert BranchEntered(on(branched), "main") in branched.reports
    assert (ended(branched).branch, ended(branched).from_branch) == (on(branched), "main")


def test_a_persons_changes_and_index_stay_as_they_are(branched: LoopProject) -> None:
    (branched.root / "notes.txt").write_text("mine\n")
    (branched.root / "staged.txt").write_text("staged\n")
    git(branched, "add", "staged.txt")

    branched.run()

    assert git(branched, "status", "--short") == "A  staged.txt\n?? notes.txt"
    assert git(branched, "show", "--format=", "--name-only", "HEAD") == "work-1.txt"


def test_the_next_run_goes_on_with_the_branch_of_the_last_one(branched: LoopProject) -> None:
    first = branched.run()
    branched.tasks("1", "2")

    second = branched.run()

    assert on(branched) == f"samuel/{first.run_id}"
    assert branches(branched) == ["main", on(branched)]
    assert second.own_branch == first.own_branch
    assert ended(branched).from_branch == "main"


def test_the_next_run_goes_on_with_the_branch_also_when_the_state_of_the_last_run_is_gone(
    branched: LoopProject,
) -> None:
    first = branched.run()
    run_file(branched).forget()
    branched.tasks("2")

    second = branched.run()

    assert branches(branched) == ["main", f"samuel/{first.run_id}"]
    assert second.own_branch == first.own_branch


def test_a_run_on_another_branch_than_the_last_run_has_a_branch_of_its_own(branched: LoopProject) -> None:
    first = branched.run()
    git(branched, "switch", "-q", "-c", "feature", "main")
    branched.tasks("2")

    second = branched.run()

    assert second.run_id != first.run_id
    assert branches(branched) == ["feature", "main", *sorted(f"samuel/{run.run_id}" for run in (first, second))]
    assert second.own_branch
    assert second.own_branch.from_branch == "feature"


def test_a_branch_below_samuel_that_a_person_made_is_a_branch_like_any_other(branched: LoopProject) -> None:
    git(branched, "switch", "-q", "-c", "samuel/mine")

    run = branched.run()

    assert run.own_branch
    assert run.own_branch.from_branch == "samuel/mine"
    assert on(branched) == f"samuel/{run.run_id}"


def test_without_branch_in_samuel_toml_the_work_goes_on_where_the_last_run_left_it(branched: LoopProject) -> None:
    first = branched.run()
    branched.configure("commit = true")
    git(branched, "commit", "-q", "-am", "without branch")
    branched.tasks("2")

    second = branched.run()

    assert second.own_branch == first.own_branch
    assert subjects(branched)[0] == "2 Task 2"


@pytest.mark.parametrize("settings", ["", "commit = true", "branch = false"])
def test_without_the_key_the_branch_is_that_of_the_person(loop: LoopProject, settings: str) -> None:
    loop.configure(settings)
    loop.tasks("1")

    run = loop.run()

    assert (on(loop), branches(loop), run.own_branch or None) == ("main", ["main"], None)
    assert ended(loop).branch == ""


def test_a_run_without_work_leaves_no_branch(branched: LoopProject) -> None:
    branched.agent(BAD)
    branched.configure('branch = true\nmax_task_attempts = 1\nquality_checks = ["test ! -f broken"]')

    run = branched.run()

    assert (on(branched), branches(branched)) == ("main", ["main"])
    assert git(branched, "for-each-ref", "refs/samuel/branches") == ""
    assert not run.own_branch
    assert ended(branched).branch == ""


def test_a_run_that_a_baseline_ends_leaves_no_branch(branched: LoopProject) -> None:
    (branched.root / "broken").touch()

    assert branched.run().exit_reason == "baseline_failed"

    assert (on(branched), branches(branched)) == ("main", ["main"])


def test_a_detached_head_is_where_a_run_without_work_goes_back_to(branched: LoopProject) -> None:
    git(branched, "switch", "-q", "--detach")
    (branched.root / "broken").touch()

    branched.run()

    assert on(branched) == ""
    assert git(branched, "rev-parse", "HEAD") == git(branched, "rev-parse", "main")
    assert git(branched, "branch", "--list", "samuel/*") == ""


def test_a_run_from_a_detached_head_has_a_branch(branched: LoopProject) -> None:
    git(branched, "switch", "-q", "--detach")

    run = branched.run()

    assert run.own_branch
    assert run.own_branch.from_branch == ""
    assert on(branched) == f"samuel/{run.run_id}"
    start = git(branched, "rev-parse", "--short=12", "main")
    assert BranchEntered(on(branched), f"a detached HEAD at {start}") in branched.reports


def test_without_a_commit_the_run_says_that_it_makes_no_branch(branched: LoopProject) -> None:
    git(branched, "checkout", "-q", "--orphan", "new")
    git(branched, "rm", "-rq", "--cached", ".")

    run = branched.run()

    assert LoopWarning("there is no commit yet, so this run makes no branch of its own") in branched.reports
    assert on(branched) == "new"
    assert (run.own_branch or None, branched.statuses()) == (None, {"1": "completed"})


def test_a_branch_named_samuel_is_named_before_any_agent_starts(branched: LoopProject) -> None:
    git(branched, "branch", "samuel")

    with pytest.raises(SamuelError, match="cannot be made, because there is a branch `samuel`") as refused:
        branched.run()

    assert refused.value.hint == "rename it: `git branch -m samuel OTHER`"
    assert (on(branched), branched.statuses()) == ("main", {"1": "pending"})
    assert git(branched, "for-each-ref", "refs/samuel") == ""


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick", "revert", "bisect"])
def test_a_git_command_that_waits_to_be_continued_is_ended_first(branched: LoopProject, command: str) -> None:
    (branched.root / "app.txt").write_text("main\n")
    git(branched, "add", "app.txt")
    git(branched, "commit", "-q", "-m", "third")
    git(branched, "switch", "-q", "-c", "other", "HEAD~1")
    (branched.root / "app.txt").write_text("other\n")
    git(branched, "add", "app.txt")
    git(branched, "commit", "-q", "-m", "fourth")
    words = ["bisect", "start"] if command == "bisect" else [command, "main"]
    subprocess.run(["git", *words], cwd=branched.root, capture_output=True)
    before = git(branched, "status", "--porcelain=v2", "--branch")

    with pytest.raises(SamuelError, match=f"a {command} is under way, so no other branch can be checked out"):
        branched.run()

    assert git(branched, "status", "--porcelain=v2", "--branch") == before
    assert git(branched, "for-each-ref", "refs/samuel") == ""
    assert branched.statuses() == {"1": "pending"}


def test_a_killed_run_stays_on_its_branch(branched: LoopProject) -> None:
    first = branched.run()
    killed(branched, first)
    branched.tasks("1", "2")

    second = branched.run()

    assert second.run_id == first.run_id
    assert (on(branched), branches(branched)) == (f"samuel/{first.run_id}", ["main", f"samuel/{first.run_id}"])


def test_a_killed_run_is_not_resumed_on_another_branch(branched: LoopProject) -> None:
    first = branched.run()
    killed(branched, first)
    git(branched, "switch", "-q", "main")
    branched.tasks("2")

    with pytest.raises(
        SamuelError, match=f"works on the branch `samuel/{first.run_id}`, and `main` is checked out"
    ):
        branched.run()

    assert (on(branched), branched.statuses()) == ("main", {"2": "pending"})
    git(branched, "switch", "-q", f"samuel/{first.run_id}")
    assert branched.run().run_id == first.run_id


def test_a_killed_run_whose_branch_was_merged_has_a_branch_again(branched: LoopProject) -> None:
    first = branched.run()
    killed(branched, first)
    git(branched, "switch", "-q", "main")
    git(branched, "merge", "-q", f"samuel/{first.run_id}")
    git(branched, "branch", "-d", f"samuel/{first.run_id}")
    branched.tasks("1", "2")

    second = branched.run()

    assert on(branched) == f"samuel/{first.run_id}"
    assert second.own_branch
    assert second.own_branch.from_branch == "main"


def test_in_a_linked_worktree_only_its_own_head_moves(branched: LoopProject) -> None:
    linked = branched.root.with_name("linked")
    git(branched, "worktree", "add", "-q", "-b", "beside", str(linked))
    there = Git(linked, environment.clean())

    branch = choose_branch(there, "run-9", None, make=True)
    assert branch is not None
    assert branch.from_branch == "beside"
    enter(there, branch, resumed=False)

    assert (head(linked), on(branched)) == ("samuel/run-9", "main")
    assert current(there) == branch
    assert leave_if_empty(there, branch)
    assert (head(linked), branches(branched)) == ("beside", ["beside", "main"])


def test_a_lock_that_a_killed_git_left_is_removed_when_the_run_resumes(branched: LoopProject) -> None:
    here = Git(branched.root, environment.clean())
    branch = choose_branch(here, "run-9", None, make=True)
    assert branch is not None
    (branched.root / ".git/HEAD.lock").touch()
    (branched.root / ".git/refs/heads/samuel").mkdir()
    (branched.root / ".git/refs/heads/samuel/run-9.lock").touch()

    enter(here, branch, resumed=True)

    assert on(branched) == "samuel/run-9"


def head(root: Path) -> str:
    done = subprocess.run(
        ["git", "branch", "--show-current"], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("hook", ["post-checkout", "reference-transaction"])
def test_no_git_hook_runs_when_the_branch_is_made(branched: LoopProject, hook: str) -> None:
    file = branched.root / ".git/hooks" / hook
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\ntouch .git/canary\n")
    file.chmod(0o755)

    branched.run()

    assert on(branched) != "main"
    assert not (branched.root / ".git/canary").exists()
