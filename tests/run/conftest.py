"""A project with tasks, an agent that is a shell script, and a loop over it: real processes throughout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App
from samuel.attempt.stop import Stop
from samuel.history.notices import Report
from samuel.history.run import Run
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task
from samuel.testing import SamuelProject

# Does its task: writes a file named after it and claims it. The prompt it got stays for the test to look at.
GOOD = """\
cp "$1" "seen-$SAMUEL_ITERATION.md"
env > "env-$SAMUEL_ITERATION.txt"
echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"
samuel run done "$SAMUEL_TASK_ID"
"""


INSTALLED = sys.executable


class LoopProject:
    def __init__(self, project: SamuelProject, python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`python` is the interpreter with which agents start `samuel`: that of the fork server."""
        self.project = project
        self._python = str(python)
        self._monkeypatch = monkeypatch
        self.root = project.root
        self.settings = ""
        self.hooks = ""
        self.reports: list[Report] = []
        self.agent(GOOD)
        self._write()

    @property
    def store(self) -> TaskStore:
        return TaskStore(self.root / ".samuel/run")

    def agent(self, script: str, name: str = "agent") -> None:
        file = self.root / f"{name}.sh"
        file.write_text(f"#!/bin/sh\nset -e\n{script}")
        file.chmod(0o755)

    def configure(self, settings: str = "", more: str = "") -> None:
        self.settings, self.hooks = settings, more
        self._write()

    def tasks(self, *ids: str, **fields: Any) -> None:
        self.store.replace_all([Task(id=id, title=f"Task {id}", **fields) for id in ids])

    def statuses(self) -> dict[str, str]:
        return {task.id: task.status for task in self.store.load()}

    def installed_samuel(self) -> None:
        """Have agents start the installed program, in a process below theirs."""
        self._python = INSTALLED

    def _choose_python(self) -> None:
        """The interpreter that `samuel` is started with. A sandbox hides that of the fork server."""
        sandboxed = "sandbox" in (self.root / "samuel.toml").read_text()
        self._monkeypatch.setattr(sys, "executable", INSTALLED if sandboxed else self._python)

    def open(self, **settings: Any) -> App:
        self._choose_python()
        return self.project.open(trust_everything=True, watch=self.reports.append, **settings)

    def run(self, iterations: int = 10, agent: str = "mine", stop: Stop | None = None, **settings: Any) -> Run:
        with self.open(**settings) as app:
            return app.loop(stop or Stop(), timings=True).run(iterations, [agent])

    def progress(self) -> str:
        return (self.root / ".samuel/run/progress.md").read_text()

    def _write(self) -> None:
        self.project.config(
            f'[methodology.ralph]\nagent = "mine"\npause = "0s"\n{self.settings}\n'
            '[agents.mine]\ncommand = ["./agent.sh", "{prompt_file}"]\n'
            '[agents.other]\ncommand = ["./other.sh", "{prompt_file}"]\n'
            f"{self.hooks}\n"
        )
        self._choose_python()


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the git directory of the first project is kept: all have the same files, and copy it."""
    return tmp_path_factory.mktemp("first-commit") / "git"


@pytest.fixture
def loop(
    samuel_project: SamuelProject, first_commit: Path, fast_samuel: Path, monkeypatch: pytest.MonkeyPatch
) -> LoopProject:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=samuel_project.root, check=True, capture_output=True)

    project = LoopProject(samuel_project, fast_samuel / "python", monkeypatch)
    (samuel_project.root / ".gitignore").write_text("seen-*\nenv-*\n")
    if not first_commit.exists():
        git("init", "-q", "-b", "main")
        git("config", "user.name", "t")
        git("config", "user.email", "t@example.org")
        git("add", "-A")
        git("commit", "-q", "-m", "begin")
        shutil.copytree(samuel_project.root / ".git", first_commit)
    else:
        shutil.copytree(first_commit, samuel_project.root / ".git")
    return project
