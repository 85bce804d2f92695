"""Commits that an agent makes itself: those of a completed task stay, all others leave the branch and are kept."""

from __future__ import annotations

import subprocess

import pytest
from tests.run.conftest import GOOD, LoopProject
from tests.run.repository.test_repository_resumed import drive
from tests.run.repository.test_repository_state import GIT, git, notes_of

from samuel.git.git import Git
from samuel.process import environment

COMMIT = f"echo x > new.txt; git add new.txt; {GIT} commit -qm agent -- new.txt\n"


@pytest.fixture(params=["branch = true", "commit = true", ""])
def project(loop: LoopProject, request: pytest.FixtureRequest) -> LoopProject:
    loop.configure(f"max_task_attempts = 2\n{request.param}")
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\n/.samuel/\n")
    loop.tasks("1")
    return loop


def begin(loop: LoopProject, script: str) -> str:
    """Let this be the agent; gives the commit that the run begins with."""
    loop.agent(script)
    git(loop.root, "add", "-A")
    git(loop.root, "commit", "-q", "-m", "settings")
    return git(loop.root, "rev-parse", "HEAD").strip()


def test_commits_of_a_failed_attempt_are_not_on_the_branch_and_a_ref_has_them(project: LoopProject) -> None:
    head = begin(project, f"{COMMIT}exit 3\n")

    run = project.run(1)

    ref = f"refs/samuel/{run.run_id}/agent/1/commits"
    assert git(project.root, "rev-parse", "HEAD").strip() == head
    assert git(project.root, "log", "-1", "--format=%s", ref) == "agent\n"
    assert git(project.root, "show", f"{ref}:new.txt") == "x\n"
    assert "because its task is not completed: " in notes_of(project)
    assert f" agent; `{ref}` has them" in notes_of(project)
    assert git(project.root, "status", "--short") == "?? new.txt\n", "the next attempt goes on with the file"


def test_what_two_failed_attempts_committed_leaves_no_trace_when_the_task_is_blocked(project: LoopProject) -> None:
    head = begin(
        project, f"{COMMIT}echo $SAMUEL_ITERATION > more.txt; git add -A; {GIT} commit -qm more; exit 3\n"
    )

    run = project.run(5)

    assert run.exit_reason == "tasks_blocked"
    assert git(project.root, "rev-parse", "HEAD").strip() == head
    assert git(project.root, "status", "--short") == ""
    for iteration in ("1", "2"):
        ref = f"refs/samuel/{run.run_id}/agent/{iteration}/commits"
        assert git(project.root, "show", f"{ref}:more.txt") == f"{iteration}\n"


def test_a_task_that_is_completed_by_a_second_attempt_has_the_work_of_the_first(project: LoopProject) -> None:
    begin(project, f"if mkdir ../first; then {COMMIT} exit 3; fi\n{GOOD}")

    project.run(5)

    assert project.statuses() == {"1": "completed"}
    assert (project.root / "new.txt").read_text() == "x\n"
    log = git(project.root, "log", "--format=%s")
    assert "agent" not in log
    if "= true" in project.settings:
        assert git(project.root, "show", "--format=", "--name-only").split() == ["new.txt", "work-1.txt"]


def test_commits_of_an_agent_that_skipped_its_task_are_not_on_the_branch(project: LoopProject) -> None:
    head = begin(project, f'{COMMIT}samuel run skip "$SAMUEL_TASK_ID" --reason superfluous\n')

    project.run(5)

    assert project.statuses() == {"1": "skipped"}
    assert git(project.root, "rev-parse", "HEAD").strip() == head
    assert git(project.root, "status", "--short") == ""


def test_commits_of_a_completed_task_stay(project: LoopProject) -> None:
    begin(project, f"{COMMIT}{GOOD}")

    project.run(5)

    assert project.statuses() == {"1": "completed"}
    assert "agent\n" in git(project.root, "log", "--format=%s")
    assert "not on" not in notes_of(project)


def test_what_a_person_had_staged_and_a_failed_attempt_committed_is_staged_again(project: LoopProject) -> None:
    begin(project, f"echo x > new.txt; git add -A; {GIT} commit -qm agent; exit 3\n")
    (project.root / "staged.txt").write_text("staged by a person\n")
    git(project.root, "add", "staged.txt")

    project.run(5)

    assert git(project.root, "status", "--short") == "A  staged.txt\n"


def test_the_first_commit_of_a_repository_is_taken_back_too(loop: LoopProject) -> None:
    loop.configure("max_task_attempts = 1")
    loop.agent(f"git add -A; {GIT} commit -qm agent; exit 3\n")
    loop.tasks("1")
    subprocess.run(["rm", "-rf", ".git"], cwd=loop.root, check=True)
    git(loop.root, "init", "-q", "-b", "main")

    run = loop.run(2)

    assert Git(loop.root, environment.clean()).head() == ""
    assert git(loop.root, "log", "--format=%s", f"refs/samuel/{run.run_id}/agent/1/commits") == "agent\n"
    assert git(loop.root, "ls-files") == ""


@pytest.mark.slow
def test_commits_of_an_attempt_that_was_interrupted_are_not_on_the_branch(project: LoopProject) -> None:
    head = begin(project, f"{COMMIT}kill -INT $(cat ../pid); sleep 60\n")

    driver = drive(project)

    assert (driver.returncode, "commits of this attempt are not on" in driver.stdout) == (0, True), driver.stderr
    assert git(project.root, "rev-parse", "HEAD").strip() == head
    (ref,) = git(project.root, "for-each-ref", "--format=%(refname)", "refs/samuel/*/agent/1/commits").split()
    assert git(project.root, "show", f"{ref}:new.txt") == "x\n"
