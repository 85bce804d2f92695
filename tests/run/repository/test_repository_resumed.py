"""A run that was killed resumes: what it left in the repository is put back, and what a person did since stays."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from tests.run.conftest import GOOD, LoopProject

from samuel.git.git import Git
from samuel.git.repository_state import BEAT
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


def wait_past_the_last_sign_of_life() -> None:
    """What is done from now on is a person's: the run writes twice a second that it is alive."""
    time.sleep(3 * BEAT)


def make_conflict(loop: LoopProject) -> None:
    """Let the branch `rival` conflict with the others in `both.txt`."""
    (loop.root / "both.txt").write_text("ours\n")
    git(loop, "add", "both.txt")
    git(loop, "commit", "-q", "-m", "ours")
    for branch in ("rival", "feature"):
        git(loop, "checkout", "-q", "-B", branch)
        (loop.root / "both.txt").write_text(f"{branch}\n")
        git(loop, "commit", "-q", "-a", "-m", branch)
        git(loop, "checkout", "-q", "main")


def test_what_a_person_staged_after_the_kill_stays_staged(project: LoopProject) -> None:
    cut_off(project, "git rm -q .gitignore")
    wait_past_the_last_sign_of_life()
    (project.root / "staged.txt").write_text("staged\n")
    git(project, "add", "staged.txt")
    (project.root / "staged.txt").write_text("edited since\n")

    output = resume(project)

    assert "changed after the run was killed, and left so: `.git/index`\n" in output
    assert git(project, "show", ":staged.txt") == "staged"


def test_what_the_agent_staged_is_put_back_and_what_a_person_staged_since_stays(project: LoopProject) -> None:
    cut_off(project, f"git rm -q --cached .gitignore samuel.toml; echo x > new; git add new; sleep {3 * BEAT}")
    wait_past_the_last_sign_of_life()
    git(project, "add", ".gitignore")
    (project.root / "staged.txt").write_text("staged\n")
    git(project, "add", "staged.txt")
    (project.root / "staged.txt").write_text("edited since\n")

    output = resume(project)

    assert "is as before but for what was staged since: `new`, `samuel.toml`\n" in output
    assert git(project, "show", ":staged.txt") == "staged"
    assert git(project, "diff", "--cached", "--name-only", "--diff-filter=D") == ""


def test_a_merge_that_a_person_began_after_the_kill_is_left_under_way(project: LoopProject) -> None:
    make_conflict(project)
    branch = cut_off(project, "true")
    git(project, "checkout", "-q", "-f", branch)
    wait_past_the_last_sign_of_life()
    (project.root / "both.txt").write_text("on the branch of the run\n")
    git(project, "commit", "-q", "-a", "-m", "mine")
    subprocess.run(["git", "merge", "-q", "rival"], cwd=project.root, check=False, capture_output=True)

    output = drive(project).stdout

    assert "changed after the run was killed, and left so: `.git/MERGE_HEAD`, `.git/index`\n" in output
    assert (project.root / ".git/MERGE_HEAD").exists()
    assert git(project, "ls-files", "-u")


def test_a_run_is_not_resumed_below_a_merge_that_a_person_began_on_another_branch(project: LoopProject) -> None:
    make_conflict(project)
    cut_off(project, "git checkout -q feature")
    wait_past_the_last_sign_of_life()
    subprocess.run(["git", "merge", "-q", "rival"], cwd=project.root, check=False, capture_output=True)
    unmerged = git(project, "ls-files", "-u")

    refused = drive(project)

    assert "a merge was begun after the run was killed, and the run works on the branch `" in refused.stderr
    assert (refused.returncode, git(project, "branch", "--show-current")) == (1, "feature")
    assert (git(project, "ls-files", "-u"), unmerged != "") == (unmerged, True)
    git(project, "merge", "--abort")
    resume(project)


def test_all_is_put_back_when_the_agent_was_in_a_merge_on_another_branch(project: LoopProject) -> None:
    make_conflict(project)
    branch = cut_off(project, "git checkout -q feature; git merge -q rival || :")

    output = resume(project)

    assert (
        "what was at work when the run was killed left a merge under way: `.git/MERGE_HEAD` was removed" in output
    )
    assert f"HEAD is on the branch `{branch}` again" in output
    assert git(project, "branch", "--show-current") == branch
    assert git(project, "ls-files", "-u") == ""
    assert (project.root / "both.txt").read_text() == "ours\n"
    assert git(project, "status", "--short") == ""
    assert git(project, "log", "-1", "--format=%s", "feature") == "feature"


def test_commits_since_the_attempt_that_was_cut_off_began_stay_and_are_named(project: LoopProject) -> None:
    branch = cut_off(project, "git commit -q --allow-empty -m agents")

    output = resume(project)

    assert f"commits since the attempt that was cut off began stay on the branch `{branch}`: " in output
    assert "agents" in subjects(project, branch)
