"""A run that people steer, killed at every write: nothing that they said or rejected is lost or done twice."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.length import FULL, at_length

from samuel.base.paths import User
from samuel.history.history import History
from samuel.tasks.store import TaskStore

PARTS = at_length(2, 12)
MOST_OF_A_PART = 4  # operations that `make test` tries in each part

AGENT = """#!/bin/sh
set -e
cat > /dev/null
echo "$SAMUEL_ITERATION" > "work-$SAMUEL_TASK_ID.txt"
samuel run done "$SAMUEL_TASK_ID"
"""
CONFIG = """
[methodology.ralph]
agent = "mine"
pause = "0s"
commit = true
[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
[agents.other]
command = ["./agent.sh"]
prompt = "stdin"
"""
# Runs the loop with a disk that kills its own process at the n-th operation (0: never), and prints their number.
DRIVER = """
import os, signal, sys
from samuel.app import App, Machine, Overrides
from samuel.attempt.stop import Stop
from samuel.files.atomic import Disk

class Deadly(Disk):
    count = 0

    def __getattribute__(self, name):
        if name in ("create", "chmod", "write", "fsync", "replace", "remove"):
            Deadly.count += 1
            if Deadly.count == int(sys.argv[1]):
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__getattribute__(name)

sys.executable = sys.argv[2] + "/python"  # the agent starts samuel with that one
with App(".", machine=Machine(disk=Deadly()), overrides=Overrides(trust_everything=True)) as app:
    run = app.loop(Stop()).run(25, ["mine"])
print(run.exit_reason, Deadly.count, file=sys.stderr)
"""


def use_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("SAMUEL_TRUST", "all")


def samuel(programs: Path, root: Path, *arguments: str) -> None:
    subprocess.run([f"{programs}/samuel", *arguments], cwd=root, check=True, capture_output=True)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def driven(root: Path, programs: Path, die_at: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(die_at), str(programs)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)


class SteeredProject:
    """A project in which a task was completed and rejected, something was said, and an agent was chosen.

    The record of a run has a name that depends on where the project is, so there is one place for all copies.
    """

    def __init__(self, base: Path, programs: Path) -> None:
        self._saved = base / "saved"
        self._place = base / "place"
        self._programs = programs
        self.root = self._place / "project"
        self.home = self._place / "home"

    def prepare(self) -> None:
        for directory in (self.root, self.home):
            directory.mkdir(parents=True)
        root = self.root
        for name, text in (("samuel.toml", CONFIG), ("agent.sh", AGENT)):
            (root / name).write_text(text)
        (root / "agent.sh").chmod(0o755)
        (root / "prd.md").write_text("## Tasks\n- [ ] 1 One\n- [ ] 2 Two\n")
        git(root, "init", "-q", "-b", "main")
        git(root, "config", "user.name", "t")
        git(root, "config", "user.email", "t@example.org")
        samuel(self._programs, root, "run", "init", "--prd", "prd.md")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "begin")
        samuel(self._programs, root, "run", "start", "--iterations", "1")
        samuel(self._programs, root, "run", "say", "hurry")
        samuel(self._programs, root, "run", "retry", "2", "--agent", "other")
        self._leave_a_rejection()
        shutil.copytree(self._place, self._saved, symlinks=True)

    def _leave_a_rejection(self) -> None:
        """As a command leaves it that is killed after its first write."""
        data = self.steering()
        commit = TaskStore(self.root / ".samuel/run").load()[0].commit_sha
        rejection = {"task": "1", "commit": commit, "why": "no", "who": "ada", "at": "2026-01-01T00:00:00.000Z"}
        self._file.write_text(json.dumps({**data, "rejections": [rejection]}))

    def restore(self) -> None:
        shutil.rmtree(self._place)
        shutil.copytree(self._saved, self._place, symlinks=True)

    @property
    def _file(self) -> Path:
        return User.from_environment().record(self.root / ".samuel/run") / "steering.json"

    def steering(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self._file.read_text())
        return data

    def operations(self) -> int:
        """How many operations a run has that nothing disturbs."""
        done = driven(self.root, self._programs)
        assert done.returncode == 0, done.stderr
        self.check()
        reason, count = done.stderr.splitlines()[-1].split()
        assert reason == "queue_empty"
        return int(count)

    def killed_at(self, operation: int) -> None:
        self.restore()
        driven(self.root, self._programs, operation)
        done = driven(self.root, self._programs)
        assert done.returncode == 0, done.stderr
        self.check()

    def check(self) -> None:
        state = self.root / ".samuel/run"
        assert [task.status for task in TaskStore(state).load()] == ["completed", "completed"]
        subjects = git(self.root, "log", "--format=%s").splitlines()
        assert sorted(subjects) == sorted(["begin", "1 One", 'Revert "1 One"', "1 One", "2 Two"])
        assert git(self.root, "status", "--short") == ""
        data = self.steering()
        assert data["rejections"] == []
        assert [len(entry["delivered"]) for entry in data["guidance"] if not entry["task"]] == [1]
        runs = History.of(state, User.from_environment().record(state)).all()
        attempts = [attempt for run in runs for attempt in run.attempts]
        assert sum(entry.text == "hurry" for attempt in attempts for entry in attempt.guidance) == 1
        assert {attempt.agent for attempt in attempts if attempt.task_id == "2"} == {"other"}


@pytest.fixture(scope="module")
def steered(fast_samuel: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    project = SteeredProject(tmp_path_factory.mktemp("steered"), fast_samuel)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_home(project.home, monkeypatch)
        project.prepare()
        yield project


@pytest.mark.parametrize("part", range(PARTS))
def test_what_people_asked_is_done_once_wherever_the_run_is_killed(steered: SteeredProject, part: int) -> None:
    steered.restore()
    numbers = list(range(1, steered.operations() + 1))[part::PARTS]
    for operation in numbers if FULL else numbers[:: max(1, len(numbers) // MOST_OF_A_PART)]:
        steered.killed_at(operation)
