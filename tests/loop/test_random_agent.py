"""Nothing that an agent wrote is lost, and nothing of the person's, whatever it does with files and git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.length import at_length
from tests.loop import random_agent
from tests.loop.conftest import LoopProject

SEEDS = range(at_length(3, 150))
COMMANDS = 25


class RandomRun:
    """A project for an agent that runs random commands."""

    def __init__(self, loop: LoopProject, archives: Path) -> None:
        self.loop = loop
        self.root = loop.root
        self._archives = archives

    def begin(self, settings: str, script: str, ending: str) -> None:
        """Let the agent be this script; `ending` is what it does after its files were archived."""
        self.loop.configure(settings)
        random_agent.first_files(self.root)
        self.loop.agent(f"{script}{random_agent.archive_into(self._archives)}{ending}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "files of the person")
        self.git("commit", "-q", "--allow-empty", "-m", "one more")

    def git(self, *arguments: str) -> bytes:
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)
        return done.stdout

    def left(self, iteration: int) -> random_agent.Files:
        """The files as the agent of an iteration left them."""
        return random_agent.files_in(self._archives / f"{iteration}.tar")

    def attempt(self, run_id: str, task: str, attempt: int) -> random_agent.Files:
        """The files in the ref of an attempt."""
        return random_agent.files_of(f"refs/samuel/{run_id}/{task}/{attempt}", self.git)


@pytest.fixture
def random_run(loop: LoopProject, tmp_path: Path) -> RandomRun:
    archives = tmp_path / "left"
    archives.mkdir()
    return RandomRun(loop, archives)


@pytest.mark.parametrize("seed", SEEDS)
def test_ref_of_a_failed_attempt_has_all_files_that_random_commands_left(random_run: RandomRun, seed: int) -> None:
    script = random_agent.script(seed, COMMANDS, random_agent.FILE_COMMANDS)
    random_run.begin("max_task_attempts = 1", script, "exit 1")
    before = random_agent.files_below(random_run.root)
    random_run.loop.tasks("1")
    run = random_run.loop.run(1)
    assert random_run.attempt(run.run_id, "1", 1) == random_run.left(1)
    assert random_agent.files_below(random_run.root) == before
