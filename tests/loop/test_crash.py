"""A run killed at any moment resumes: the same tasks in the end as if nobody had killed it.

Every write, fsync and rename of a run is a place to die, and so is any moment in between. `make crash` tries them
all, and 200 random moments; here is a sample of both.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samuel.loop.run import Run, RunFile
from samuel.paths import User
from samuel.tasks.store import TaskStore

FULL = os.environ.get("SAMUEL_CRASH") == "full"
MOMENTS = 200 if FULL else 6
EVERY = 1 if FULL else 11

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
from samuel.app import App
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

with App(".", disk=Deadly(), trust_everything=True) as app:
    run = app.loop(Stop()).run(25, "mine")
print(run.exit_reason, Deadly.count)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    return new_project(tmp_path / "project")


def new_project(root: Path) -> Path:
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


def test_at_every_write_fsync_and_rename(place: Path, tmp_path: Path) -> None:
    whole = driven(place)
    assert whole.stdout.startswith("queue_empty"), whole.stderr
    check_the_end(place)
    count = int(whole.stdout.split()[1])
    assert count > 60
    for number in range(random.Random(count).randrange(EVERY) + 1, count + 1, EVERY):
        root = new_project(tmp_path / f"at-{number}")
        died = driven(root, number)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        TaskStore(root / ".samuel/run").load()  # readable, whatever happened
        run = last_run(root)
        if run is None or not run.over:  # else it died after its last word
            resumed = driven(root)
            assert resumed.stdout.startswith("queue_empty"), (number, resumed.stderr)
        check_the_end(root)


def test_at_random_moments(place: Path) -> None:
    """One run, killed again and again, until it is through."""
    chance = random.Random(4)
    command = [sys.executable, "-m", "samuel", "run", "start"]
    killed = 0
    for _ in range(MOMENTS):
        process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.5))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        TaskStore(place / ".samuel/run").load()
        run = last_run(place)
        if run is not None and run.over:
            check_the_end(place)
            subprocess.run(
                ["git", "stash", "-q", "--include-untracked"], cwd=place, check=False, capture_output=True
            )
            _again(place)
    assert killed
    run = last_run(place)
    if run is None or not run.over:
        assert driven(place).stdout.startswith("queue_empty")
    check_the_end(place)


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
