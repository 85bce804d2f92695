"""Honest work is completed; where an old test contradicts its task, it is disputed, and one command settles it."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.honest import other_cases, python_cases
from tests.honest.case import Case
from tests.run.conftest import INSTALLED, LoopProject

from samuel.history.attempt_record import AttemptRecord
from samuel.history.history import History
from samuel.history.run import Run
from samuel.tasks.task import Task

CASES = (*python_cases.CASES, *other_cases.CASES)
ACCEPTED = ("proven", "proven, new names only", "checked")
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'


@pytest.fixture(autouse=True)
def same_user(loop: LoopProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `samuel` of a test has the state directory of the loop."""
    for name, directory in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        monkeypatch.setenv(name, os.environ.get(name, str(Path(pwd.getpwuid(os.getuid()).pw_dir) / directory)))
    monkeypatch.setenv("HOME", str(loop.project.user.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)


def prepared(loop: LoopProject, case: Case) -> None:
    for tool in case.project.tools:
        if shutil.which(tool) is None:
            pytest.skip(f"NOT TESTED: {tool} is not installed")
    for name, text in {**case.project.files, **case.files}.items():
        (loop.root / name).parent.mkdir(parents=True, exist_ok=True)
        (loop.root / name).write_text(text)
    check = case.project.check.format(python=INSTALLED)
    if case.fails_at:  # it counts its runs outside of the project
        count = loop.root.parent / "runs-of-the-check"
        check = f"echo x >> {count} && test $(wc -l < {count}) -ne {case.fails_at} && {check}"
    baseline = f'baseline = "{case.baseline}"\n' if case.baseline else ""
    loop.configure(f"{baseline}quality_checks = [{json.dumps(check)}]\n{case.settings}")
    config = loop.root / "samuel.toml"
    config.write_text(f'pass_env = ["CARGO_HOME", "RUSTUP_HOME"]\n{config.read_text()}')
    loop.agent(case.work + CLAIM)
    for command in (["add", "-A"], ["commit", "-q", "-m", "project"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    loop.store.replace_all([Task(id="1", title=case.title, **case.task)])


def attempts(loop: LoopProject, run: Run) -> tuple[AttemptRecord, ...]:
    with loop.open() as app:
        state = loop.root / ".samuel/run"
        return History.of(state, app.user.record(state)).load(run.run_id).attempts


def samuel(loop: LoopProject, *arguments: str) -> str:
    command = [INSTALLED, "-P", "-m", "samuel", *arguments]
    done = subprocess.run(command, cwd=loop.root, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def changed_files(loop: LoopProject) -> list[str]:
    command = ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames"]
    lines = subprocess.run(command, cwd=loop.root, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line[3:] for line in lines]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.sampled(every=6)
def test_honest_work_is_accepted(loop: LoopProject, case: Case) -> None:
    prepared(loop, case)
    run = loop.run(4)
    task = loop.store.load()[0]
    outcomes = [str(attempt.outcome) for attempt in attempts(loop, run)]
    why = "\n".join(attempt.why for attempt in attempts(loop, run))
    if case.ending == "disputed":
        assert (outcomes, task.status) == (["quality_failed", "disputed"], "waiting"), why
        assert "samuel run accept 1" in samuel(loop, "run", "status")
        samuel(loop, "run", "accept", "1", "--yes")
        assert loop.statuses() == {"1": "completed"}
        assert {*attempts(loop, run)[-1].check_files} <= {*changed_files(loop)}
        return
    assert outcomes == (["unproven"] if case.ending == "sent back once" else []) + ["completed"], why
    assert (task.status, task.grade in ACCEPTED) == ("completed", True), task.grade
    assert task.grade == (case.grade or task.grade)
