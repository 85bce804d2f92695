"""A run that was killed resumes: what it left in the repository is put back, and what a person did since stays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.loop.conftest import GOOD, LoopProject

from samuel.git.git import Git
from samuel.history.own_branch import OwnBranch, remembered
from samuel.process import environment
from samuel.workspaces.finish_branch import discard, merge

DRIVER = """
import os, sys
from pathlib import Path
from samuel.app import App, Overrides
from samuel.history.notices import LoopWarning
from samuel.attempt.stop import Stop
def watch(report):
    if isinstance(report, LoopWarning):
        print(report.text)
Path("../pid").write_text(str(os.getpid()))
with App(".", watch=watch, overrides=Overrides(trust_everything=True)) as app:
    app.loop(Stop()).run(3, ["mine"])
"""

pytestmark = pytest.mark.slow


@pytest.fixture(params=["branch = true", "commit = true"])
def project(loop: LoopProject, request: pytest.FixtureRequest) -> LoopProject:
    """A project with two tasks; the second one is cut off."""
    loop.configure(request.param)
    loop.tasks("1", "2")
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\n/.samuel/\n")
    git(loop, "add", "-A")
    git(loop, "commit", "-q", "-m", "second")
    git(loop, "branch", "feature")
    return loop


def git(loop: LoopProject, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=loop.root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def drive(loop: LoopProject) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DRIVER], cwd=loop.root, capture_output=True, text=True, check=False
    )


def cut_off(loop: LoopProject, damage: str) -> str:
    """Kill the run while the agent is at work on task 2; the branch that the run worked on."""
    kill = f"{damage}; kill -9 $(cat ../pid); sleep 60"
    loop.agent(f'if [ "$SAMUEL_TASK_ID" = 2 ] && mkdir ../killed; then {kill}; fi\n{GOOD}')
    git(loop, "commit", "-q", "-am", "agent")
    killed = drive(loop)
    assert killed.returncode == -9, killed.stderr
    return git(loop, "for-each-ref", "--format=%(refname:short)", "refs/heads/samuel") or "main"


def resume(loop: LoopProject) -> str:
    resumed = drive(loop)
    assert resumed.returncode == 0, resumed.stderr
    assert loop.statuses() == {"1": "completed", "2": "completed"}
    return resumed.stdout


def subjects(loop: LoopProject, branch: str) -> list[str]:
    return git(loop, "log", "--format=%s", branch).split("\n")


def test_commits_tags_and_stashes_that_a_person_made_since_stay_and_are_named(project: LoopProject) -> None:
    branch = cut_off(project, "git branch doomed; git tag v1")
    git(project, "switch", "-q", "feature")
    (project.root / "mine.txt").write_text("mine\n")
    git(project, "add", "mine.txt")
    git(project, "commit", "-q", "-m", "mine")
    git(project, "switch", "-q", branch)
    git(project, "branch", "-D", "-q", "doomed")
    git(project, "tag", "-f", "v1", "feature")
    (project.root / ".gitignore").write_text("stashed\n")
    git(project, "stash", "push", "-q", "-m", "stashed")

    output = resume(project)

    assert "left so: the branch `feature`, `refs/stash`, the tag `v1`\n" in output
    assert (subjects(project, "feature")[0], subjects(project, "v1")[0]) == ("mine", "mine")
    assert git(project, "stash", "list", "--format=%gs").endswith(": stashed")
    assert subjects(project, branch)[:2] == ["2 Task 2", "1 Task 1"]


def test_commits_that_a_person_made_since_on_the_branch_of_the_run_stay_with_what_is_staged(
    project: LoopProject,
) -> None:
    branch = cut_off(project, "true")
    (project.root / "mine.txt").write_text("mine\n")
    (project.root / "staged.txt").write_text("staged\n")
    git(project, "add", "mine.txt")
    git(project, "commit", "-q", "-m", "mine")
    git(project, "add", "staged.txt")

    resume(project)

    assert subjects(project, branch)[:3] == ["2 Task 2", "mine", "1 Task 1"]


@pytest.mark.parametrize("damage", ["git checkout -q feature", "git checkout -q --detach HEAD~1"])
def test_head_is_on_the_branch_of_the_run_again_when_the_agent_had_moved_it(
    project: LoopProject, damage: str
) -> None:
    branch = cut_off(project, damage)

    output = resume(project)

    assert f"HEAD is on the branch `{branch}` again" in output
    assert git(project, "branch", "--show-current") == branch
    assert subjects(project, branch)[:3] == ["2 Task 2", "1 Task 1", "agent"]
    assert git(project, "status", "--short") == ""


@pytest.mark.parametrize("project", ["branch = true"], indirect=True)
@pytest.mark.parametrize("finish", [merge, discard])
@pytest.mark.parametrize("damage", ["true", "git checkout -q main"])
def test_a_branch_that_was_finished_since_stays_finished(
    project: LoopProject, finish: Callable[[Git, OwnBranch], object], damage: str
) -> None:
    branch = cut_off(project, damage)
    own_git = Git(project.root, environment.clean())
    own_branch = remembered(own_git, branch)
    assert own_branch is not None
    finish(own_git, own_branch)
    merged = subjects(project, "main")

    output = resume(project)

    assert "HEAD is on" not in output
    assert "refs/samuel/branches" not in output
    assert subjects(project, "main") == merged
    assert ("1 Task 1" in merged) == (finish is merge)
    assert subjects(project, branch) == ["2 Task 2", *merged]
