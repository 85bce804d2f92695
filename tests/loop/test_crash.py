"""A run killed at any moment resumes: the same tasks in the end as if nobody had killed it.

Every write, fsync and rename of a run is a place to die, and so is any moment in between. `make crash` tries every
operation and 200 random moments; `make test` tries 16 operations, spread over the run, and 6 random moments. Both
are split into parts, so that several workers share them.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.length import FULL, at_length

from samuel.loop.run import Run, RunFile
from samuel.paths import User
from samuel.tasks.store import TaskStore

OPERATION_PARTS = at_length(16, 48)
MOMENT_PARTS = at_length(1, 20)
MOMENTS_OF_A_PART = at_length(6, 10)

AGENT = """#!/bin/sh
set -e
sleep 0.02
if [ "$SAMUEL_TASK_ID" = 2 ] && [ "$SAMUEL_ATTEMPT" = 1 ]; then echo wrong > work-2.txt
else echo right > "work-$SAMUEL_TASK_ID.txt"; fi
samuel run done "$SAMUEL_TASK_ID"
"""
CONFIG = """
[methodology.ralph]
agent = "mine"
pause = "0s"
commit = true
quality_checks = ["! grep -q wrong work-*.txt"]
[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""
# Runs the loop with a disk that kills its own process at the n-th operation (0: never).
DRIVER = """
import os, signal, sys
from samuel.app import App, Machine, Overrides
from samuel.files.atomic import Disk
from samuel.loop.stop import Stop

class Deadly(Disk):
    left = int(sys.argv[1])
    count = 0

    def __getattribute__(self, name):
        if name in ("create", "chmod", "write", "fsync", "replace", "remove"):
            Deadly.count += 1
            if Deadly.count == Deadly.left:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__getattribute__(name)

with App(".", machine=Machine(disk=Deadly()), overrides=Overrides(trust_everything=True)) as app:
    run = app.loop(Stop()).run(25, ["mine"])
print(run.exit_reason, Deadly.count)
"""


@pytest.fixture(scope="session")
def initial_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three tasks, before its first run. It is not changed: tests copy it."""
    root = tmp_path_factory.mktemp("crash") / "project"
    root.mkdir()
    (root / "samuel.toml").write_text(CONFIG)
    (root / "agent.sh").write_text(AGENT)
    (root / "agent.sh").chmod(0o755)
    (root / "prd.md").write_text("## Tasks\n- [ ] 1 One\n- [ ] 2 Two\n- [ ] 3 Three\n")
    for command in (
        ["git", "init", "-q"],
        ["git", "config", "user.name", "t"],
        ["git", "config", "user.email", "t@example.org"],
        [sys.executable, "-m", "samuel", "run", "init", "--prd", "prd.md"],
        ["git", "add", "-A"],
        ["git", "commit", "-q", "-m", "begin"],
    ):
        subprocess.run(command, cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_home(tmp_path / "home", monkeypatch)


@pytest.fixture(scope="session")
def operation_count(initial_project: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many writes, fsyncs and renames a run has that nothing disturbs."""
    place = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_home(place / "home", monkeypatch)
        root = copy_of(initial_project, place / "project")
        whole = driven(root)
        assert whole.stdout.startswith("queue_empty"), whole.stderr
        check_the_end(root)
    return int(whole.stdout.split()[1])


def use_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("SAMUEL_TRUST", "all")


def copy_of(initial_project: Path, root: Path) -> Path:
    return shutil.copytree(initial_project, root, symlinks=True)


def driven(root: Path, die_at: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(die_at)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)


def last_run(root: Path) -> Run | None:
    """As a start would find it: a kill can come between the record and run.json."""
    return RunFile(root / ".samuel/run", User.from_environment().record(root / ".samuel/run")).load()


def check_the_end(root: Path) -> None:
    tasks = TaskStore(root / ".samuel/run").load()
    assert [(task.id, task.status, task.attempts, task.claimed) for task in tasks] == [
        ("1", "completed", 0, False),
        ("2", "completed", 1, False),
        ("3", "completed", 0, False),
    ]
    run = last_run(root)
    assert run is not None
    assert run.exit_reason == "queue_empty"
    assert run.iterations_run == 4
    assert run.outcomes == {"completed": 3, "quality_failed": 1}
    log = subprocess.run(["git", "log", "--format=%s"], cwd=root, capture_output=True, text=True, check=True)
    assert log.stdout.split("\n") == ["3 Three", "2 Two", "1 One", "begin", ""]
    progress = (root / ".samuel/run/progress.md").read_text()
    for iteration in range(1, 5):
        assert progress.count(f"iteration {iteration} ") == 1


@pytest.mark.parametrize("part", range(OPERATION_PARTS))
def test_a_run_killed_at_a_write_fsync_or_rename_resumes(
    part: int, operation_count: int, initial_project: Path, tmp_path: Path
) -> None:
    assert operation_count > 60
    if FULL:
        numbers = range(part + 1, operation_count + 1, OPERATION_PARTS)
    else:
        width = operation_count // OPERATION_PARTS
        first = part * width + 1 + random.Random(operation_count + part).randrange(width)
        numbers = range(first, first + 1)
    for number in numbers:
        root = copy_of(initial_project, tmp_path / f"at-{number}")
        died = driven(root, number)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        TaskStore(root / ".samuel/run").load()  # readable, whatever happened
        run = last_run(root)
        if run is None or not run.over:  # else it died after its last word
            resumed = driven(root)
            assert resumed.stdout.startswith("queue_empty"), (number, resumed.stderr)
        check_the_end(root)


@pytest.mark.parametrize("part", range(MOMENT_PARTS))
def test_a_run_killed_at_random_moments_resumes(part: int, initial_project: Path, tmp_path: Path) -> None:
    """One run, killed again and again, until it is through."""
    project = copy_of(initial_project, tmp_path / "project")
    chance = random.Random(part)
    command = [sys.executable, "-m", "samuel", "run", "start"]
    killed = 0
    for _ in range(MOMENTS_OF_A_PART):
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.5))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        TaskStore(project / ".samuel/run").load()
        run = last_run(project)
        if run is not None and run.over:
            check_the_end(project)
            subprocess.run(
                ["git", "stash", "-q", "--include-untracked"], cwd=project, check=False, capture_output=True
            )
            _again(project)
    assert killed
    run = last_run(project)
    if run is None or not run.over:
        assert driven(project).stdout.startswith("queue_empty")
    check_the_end(project)


def _again(root: Path) -> None:
    """The same work once more, from the beginning."""
    first = subprocess.run(
        ["git", "rev-list", "--max-parents=0", "HEAD"], cwd=root, capture_output=True, text=True
    )
    subprocess.run(["git", "reset", "-q", "--hard", first.stdout.strip()], cwd=root, check=True)
    (root / ".samuel/run/run.json").unlink()
    (root / ".samuel/run/progress.md").unlink()
    init = [sys.executable, "-m", "samuel", "run", "init", "--prd", "prd.md", "--force"]
    subprocess.run(init, cwd=root, check=True, capture_output=True)
