from __future__ import annotations

import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.forge.conftest import gh_settings, github  # noqa: F401  fixtures of a GitHub

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

REAL = (sys.executable, "-m", "samuel")
INSIDE = ("SAMUEL_METHODOLOGY", "SAMUEL_TASK_ID", "SAMUEL_MODE", "SAMUEL_ITERATION", "SAMUEL_MAX_NEW_TASKS")


@pytest.fixture(autouse=True)
def _samuel_of_agents(samuel_of_agents: None) -> None: ...


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in INSIDE:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def store(project: Path) -> TaskStore:
    return TaskStore(project / ".samuel/run")


@pytest.fixture
def three(store: TaskStore) -> TaskStore:
    """A project with three tasks, the second in progress."""
    store.replace_all(
        [
            Task(id="1", title="Write it", status="completed"),
            Task(id="1.10", title="Use it", status="in_progress", priority="high", depends_on=("1",), iteration=2),
            Task(id="2", title="Sell it", depends_on=("1", "1.10")),
        ]
    )
    return store


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """From here on the commands are called by the agent of a run."""

    def enter(**variables: str) -> None:
        monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
        for name, value in variables.items():
            monkeypatch.setenv(f"SAMUEL_{name}", value)

    return enter


# Does its task: a file named after it, and a claim.
GOOD = """\
echo "working on $SAMUEL_TASK_ID"
echo x > "work-$SAMUEL_TASK_ID"
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""
CONFIG = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
quality_checks = ["test ! -f wrong"]

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""


def steady(text: str) -> str:
    """An output without what differs from run to run: times, and the id of the run."""
    return re.sub(r"\brun-\w{20,}", "RUN", re.sub(r"\(\d+\.\ds\)", "(0.0s)", text))


class Workshop:
    """A project with two tasks, and an agent that is a shell script. Nothing is trusted yet."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.agent(GOOD)
        self.configure()
        self.store.replace_all([Task(id="1", title="One"), Task(id="2", title="Two")])
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
        # What a test sets up is not a person's uncommitted work.
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_text("agent.sh\nsamuel.toml\n.samuel/\n*-out\nprompt-*\nlast.json\n")

    def agent(self, script: str) -> None:
        file = self.root / "agent.sh"
        file.write_text(f"#!/bin/sh\nset -e\n{script}")
        file.chmod(0o755)

    def configure(self, text: str = CONFIG) -> None:
        (self.root / "samuel.toml").write_text(text)

    @property
    def store(self) -> TaskStore:
        return TaskStore(self.root / ".samuel/run")

    @property
    def statuses(self) -> list[str]:
        return [task.status for task in self.store.load()]

    def start(self, *arguments: str, **settings: Any) -> subprocess.Popen[str]:
        """The program itself, in the background."""
        command = [*REAL, "run", "start", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.root, stdout=pipe, stderr=pipe, text=True, **settings)

    def wait_for(self, name: str) -> Path:
        """Until the agent has left this file."""
        deadline = time.monotonic() + 120
        while not (self.root / name).exists():
            assert time.monotonic() < deadline, name
            time.sleep(0.01)
        return self.root / name


@pytest.fixture
def workshop(project: Path) -> Workshop:
    return Workshop(project)


@pytest.fixture
def marked_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every process of the test carries a mark; when the test is over no process may carry it any more."""
    mark = f"SAMUEL_TEST_MARK={uuid.uuid4().hex}"
    monkeypatch.setenv(*mark.split("="))
    yield
    deadline = time.monotonic() + 120
    while left := _carriers(mark.encode()):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def _carriers(mark: bytes) -> list[str]:
    command_lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                command_lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # gone meanwhile, or not ours
            continue
    return command_lines
