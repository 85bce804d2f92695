"""A run that is killed during a review resumes with the same result, and leaves no copy behind."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from samuel.attempt.review.work_copy import DIRECTORY
from samuel.base.paths import User
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .test_acceptance_crash import KILL, driven
from .test_crash import home  # noqa: F401
from .test_review import ACCEPTS, NONCE, REFUSES

STEPS = ("review", "read", "answered")
VERDICTS = {"accepts": (ACCEPTS, "completed", "accepted by other"), "refuses": (REFUSES, "waiting", "")}


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("step", STEPS)
def test_run_killed_during_a_review_resumes_with_the_same_result(
    tmp_path: Path, fast_samuel: Path, step: str, verdict: str
) -> None:
    script, status, reviewed = VERDICTS[verdict]
    root, kill = tmp_path / "project", KILL.format(base=tmp_path)
    root.mkdir()
    reviewer = f"kill_run review\n{NONCE}kill_run read\n{script}kill_run answered\n"
    for name, body in (("mine", "echo work > work.txt\nsamuel run done 1\n"), ("other", reviewer)):
        (root / f"{name}.sh").write_text(f"#!/bin/sh\nset -e\n{kill}{body}")
        (root / f"{name}.sh").chmod(0o755)
    (root / "samuel.toml").write_text(
        '[methodology.ralph]\nagent = "mine"\npause = "0s"\ncommit = true\nproof = "off"\n'
        'quality_checks = ["true"]\n[methodology.ralph.review]\nagent = "other"\nrounds = 1\n'
        '[agents.mine]\ncommand = ["./mine.sh", "{prompt_file}"]\n'
        '[agents.other]\ncommand = ["./other.sh", "{prompt_file}"]\n'
    )
    TaskStore(root / ".samuel/run").replace_all([Task(id="1", title="Write the file")])
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "t"],
        ["config", "user.email", "t@example.org"],
        ["add", "-A", ":!.samuel"],
        ["commit", "-q", "-m", "begin"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    (tmp_path / "die-at").write_text(step)
    died = driven(root, fast_samuel)
    assert died.returncode == -signal.SIGKILL, died.stderr
    (task,) = TaskStore(root / ".samuel/run").load()
    assert task.status == "in_progress"
    ended = driven(root, fast_samuel)
    assert ended.returncode == 0, ended.stderr
    (task,) = TaskStore(root / ".samuel/run").load()
    assert (task.status, task.reviewed, task.attempts) == (status, reviewed, 0)
    left = User.from_environment().record(root / ".samuel/run") / DIRECTORY
    assert [*left.iterdir()] == []
