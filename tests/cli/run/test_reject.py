"""Sending a completed task back: its commit is reverted by one commit, and its next attempt reads why."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.run.conftest import GOOD, Workshop
from tests.cli.run.test_steering import ME, call, ended, prompt

from samuel.base import paths
from samuel.tasks.task import Task

CONFIG = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
commit = true

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""
# Each task writes a file of its own, and a line of one that all share.
AGENT = f'cat > "prompt-$SAMUEL_ITERATION"\necho "$SAMUEL_TASK_ID" >> shared\n{GOOD}'


WAITING = """\
cat > "prompt-$SAMUEL_ITERATION"
if [ "$SAMUEL_ITERATION" = 2 ]; then
  touch two-out
  while [ ! -e go-out ]; do sleep 0.05; done
fi
"""


@pytest.fixture
def workshop(project: Path) -> Workshop:
    workshop = Workshop(project)
    git(project, "config", "user.name", "Ada")
    git(project, "config", "user.email", "ada@example.com")
    return workshop


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def done(workshop: Workshop) -> Workshop:
    """A project whose two tasks are completed, each with a commit."""
    workshop.configure(CONFIG)
    workshop.agent(f'cat > "prompt-$SAMUEL_ITERATION"\n{GOOD}')
    (workshop.root / "README").write_text("x\n")
    git(workshop.root, "add", "README")
    git(workshop.root, "commit", "-qm", "begin")
    assert ended(workshop.start("--yes"))[0] == 0
    return workshop


def commits(workshop: Workshop, revision: str = "HEAD") -> list[str]:
    return git(workshop.root, "log", "--format=%s", revision).splitlines()


class TestWithoutARun:
    def test_one_commit_reverts_the_work_and_names_its_commit(self, done: Workshop) -> None:
        sha = done.store.load()[0].commit_sha
        rejected = call(done, "reject", "1", "it must be faster")
        assert rejected.returncode == 0, rejected.stderr
        head = git(done.root, "rev-parse", "HEAD")
        assert rejected.stdout == f"task `1` is pending; {head[:12]} reverts {sha[:12]}\n"
        assert commits(done) == ['Revert "1 One"', "2 Two", "1 One", "begin"]
        assert f"This reverts commit {sha}." in git(done.root, "log", "-1", "--format=%B")
        assert not (done.root / "work-1").exists()
        assert (done.root / "work-2").exists()
        assert git(done.root, "status", "--porcelain") == ""
        task = done.store.load()[0]
        assert (task.status, task.attempts, task.commit_sha) == ("pending", 0, "")
        assert task.last_failure == f"rejected: {ME}: it must be faster"

    def test_the_next_attempt_reads_why_and_the_work_can_be_completed_again(self, done: Workshop) -> None:
        call(done, "reject", "1", "it must be faster")
        assert ended(done.start())[0] == 0
        assert "it must be faster" in prompt(done, 1)
        assert "The work tree is as it was before it." in prompt(done, 1)
        assert commits(done) == ["1 One", 'Revert "1 One"', "2 Two", "1 One", "begin"]

    def test_a_task_that_is_not_completed_cannot_be_rejected(self, workshop: Workshop) -> None:
        rejected = call(workshop, "reject", "1", "no")
        assert rejected.returncode == 1
        assert "task `1` is pending, not completed" in rejected.stderr

    def test_a_conflict_changes_neither_head_nor_files_and_names_them(self, workshop: Workshop) -> None:
        workshop.configure(CONFIG)
        workshop.agent(AGENT)
        assert ended(workshop.start("--yes"))[0] == 0
        head = git(workshop.root, "rev-parse", "HEAD")
        rejected = call(workshop, "reject", "1", "it must be faster", "--json")
        answer = json.loads(rejected.stdout)
        assert (rejected.returncode, answer["ok"], answer["data"]["conflicts"]) == (1, False, ["shared"])
        assert git(workshop.root, "rev-parse", "HEAD") == head
        assert git(workshop.root, "status", "--porcelain") == ""
        assert workshop.statuses == ["pending", "completed"]
        workshop.agent(f'cat > "prompt-$SAMUEL_ITERATION"\necho new > shared\n{GOOD}')
        assert ended(workshop.start("--yes"))[0] == 0
        assert "it must be faster" in prompt(workshop, 1)

    def test_uncommitted_changes_of_a_file_are_not_overwritten(self, done: Workshop) -> None:
        (done.root / "work-1").write_text("mine\n")
        rejected = call(done, "reject", "1", "no")
        assert rejected.returncode == 1
        assert "`work-1`" in rejected.stderr
        assert (done.root / "work-1").read_text() == "mine\n"
        assert commits(done) == ["2 Two", "1 One", "begin"]

    def test_a_task_without_a_commit_is_pending_and_the_command_says_so(self, workshop: Workshop) -> None:
        assert ended(workshop.start("--yes"))[0] == 0
        rejected = call(workshop, "reject", "1", "no")
        assert (rejected.returncode, rejected.stdout) == (
            0,
            "task `1` is pending; it has no commit, so its work stays in the files\n",
        )
        assert workshop.statuses == ["pending", "completed"]

    def test_the_branch_of_the_run_has_the_revert_if_it_is_not_checked_out(self, workshop: Workshop) -> None:
        workshop.configure(CONFIG.replace("commit = true", "commit = true\nbranch = true"))
        (workshop.root / "README").write_text("x\n")
        git(workshop.root, "add", "README")
        git(workshop.root, "commit", "-qm", "begin")
        assert ended(workshop.start("--yes"))[0] == 0
        branch = git(workshop.root, "branch", "--show-current")
        git(workshop.root, "switch", "-q", "main")
        assert call(workshop, "reject", "1", "no").returncode == 0
        assert commits(workshop, branch) == ['Revert "1 One"', "2 Two", "1 One", "begin"]
        assert commits(workshop) == ["begin"]
        assert git(workshop.root, "status", "--porcelain") == ""

    def test_the_box_of_the_task_is_empty_again_beside_boxes_that_stay_ticked(self, workshop: Workshop) -> None:
        workshop.configure(CONFIG)
        workshop.agent(GOOD)
        plan = workshop.root / "PLAN.md"
        plan.write_text("# Plan\n\n- [ ] One\n- [ ] Two\n")
        git(workshop.root, "add", "PLAN.md")
        git(workshop.root, "commit", "-qm", "begin")
        assert call(workshop, "init", "--from", "PLAN.md", "--force").returncode == 0
        assert ended(workshop.start("--yes"))[0] == 0
        assert plan.read_text() == "# Plan\n\n- [x] One\n- [x] Two\n"
        rejected = call(workshop, "reject", "1", "no")
        assert rejected.returncode == 0, rejected.stderr
        assert plan.read_text() == "# Plan\n\n- [ ] One\n- [x] Two\n"
        assert git(workshop.root, "status", "--porcelain") == ""

    def test_a_command_killed_before_the_task_changed_makes_no_second_commit(self, done: Workshop) -> None:
        task = done.store.load()[0]
        file = paths.User.from_environment().record(done.root / ".samuel/run") / "steering.json"
        assert call(done, "reject", "1", "no").returncode == 0
        steering = json.loads(file.read_text())
        [entry] = steering["guidance"]
        rejection = {"task": "1", "commit": task.commit_sha, "why": "no", "who": ME, "at": entry["at"]}
        file.write_text(json.dumps({**steering, "rejections": [rejection]}))
        done.store.replace_all([task, *done.store.load()[1:]])
        assert ended(done.start())[0] == 0
        assert commits(done) == ["1 One", 'Revert "1 One"', "2 Two", "1 One", "begin"]
        assert json.loads(file.read_text())["rejections"] == []


class TestDuringARun:
    def test_it_is_taken_back_between_attempts_and_done_again_in_the_same_run(self, workshop: Workshop) -> None:
        workshop.configure(CONFIG)
        workshop.agent(WAITING + GOOD)
        run = workshop.start("--yes")
        workshop.wait_for("two-out")
        rejected = call(workshop, "reject", "1", "it must be faster", "--json")
        assert rejected.returncode == 0
        assert json.loads(rejected.stdout)["data"]["carried_out_by"].startswith("run-")
        assert commits(workshop) == ["1 One"]
        (workshop.root / "go-out").touch()
        code, output = ended(run)
        assert code == 0, output
        assert "task `1` is pending; " in output
        assert commits(workshop) == ["1 One", 'Revert "1 One"', "2 Two", "1 One"]
        assert "it must be faster" in prompt(workshop, 3)
        assert git(workshop.root, "status", "--porcelain") == ""
        assert [task.status for task in workshop.store.load()] == ["completed", "completed"]

    def test_the_agent_of_a_run_is_refused(self, workshop: Workshop) -> None:
        workshop.store.replace_all([Task(id="0", title="Zero", status="completed"), Task(id="1", title="One")])
        (workshop.root / "agent.sh").write_text(
            f"#!/bin/sh\nsamuel run reject 0 no > refusal-out 2>&1; echo $? > code-out\n{GOOD}"
        )
        assert ended(workshop.start("--yes"))[0] == 0
        assert (workshop.root / "code-out").read_text() == "1\n"
        assert [task.status for task in workshop.store.load()] == ["completed", "completed"]
