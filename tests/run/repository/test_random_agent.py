"""Nothing that an agent wrote is lost, and nothing of the person's, whatever it does with files and git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.length import at_length
from tests.run.conftest import LoopProject
from tests.run.repository import random_agent

from samuel.evidence.conventions import is_test_file

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
        (self.root / "mine.txt").write_text("of a person\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "files of the person")
        self.git("commit", "-q", "--allow-empty", "-m", "one more")

    def git(self, *arguments: str) -> bytes:
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)
        return done.stdout

    @property
    def iterations(self) -> list[int]:
        """Those whose agent came to its end: none is started once an agent has removed samuel.toml."""
        return sorted(int(archive.stem) for archive in self._archives.iterdir())

    def left(self, iteration: int) -> random_agent.Files:
        """The files as the agent of an iteration left them."""
        return random_agent.files_in(self._archives / f"{iteration}.tar")

    def attempt(self, run_id: str, task: str, attempt: int) -> random_agent.Files:
        """The files in the ref of an attempt; none if it has no ref."""
        return self._files_of(f"refs/samuel/{run_id}/{task}/{attempt}")

    def verified(self, run_id: str) -> random_agent.Files:
        """The files of the last completed task, or of the start of the run."""
        return self._files_of(f"refs/samuel/{run_id}/verified")

    def persons(self, run_id: str) -> random_agent.Files:
        """The files with what the person had not committed."""
        return self._files_of(f"refs/samuel/{run_id}/person")

    def _files_of(self, ref: str) -> random_agent.Files:
        exists = self.git("for-each-ref", ref)
        return random_agent.files_of(ref, self.git) if exists else {}


@pytest.fixture
def random_run(loop: LoopProject, tmp_path: Path) -> RandomRun:
    archives = tmp_path / "left"
    archives.mkdir()
    return RandomRun(loop, archives)


PERSONS = {"mine.txt": "changed by a person\n", "notes/new.txt": "of a person, not tracked\n"}
CHECK = "cat src/a.py tests/b.py >/dev/null"  # whose files an attempt has changed more often than not
ENDINGS = ("exit 1", "samuel run done 1", "exit 0")


@pytest.mark.parametrize("seed", SEEDS)
def test_ref_of_a_failed_attempt_has_all_files_that_random_commands_left(random_run: RandomRun, seed: int) -> None:
    script = random_agent.script(seed, COMMANDS, random_agent.FILE_COMMANDS)
    random_run.begin("max_task_attempts = 1", script, "exit 1")
    before = random_agent.files_below(random_run.root)
    random_run.loop.tasks("1")
    run = random_run.loop.run(1)
    assert random_run.attempt(run.run_id, "1", 1) == random_run.left(1)
    assert random_agent.files_below(random_run.root) == before


@pytest.mark.parametrize("seed", SEEDS)
def test_refs_have_all_files_of_an_agent_that_runs_random_git_commands(random_run: RandomRun, seed: int) -> None:
    """Also if it claims its task, has a second attempt, commits, changes files of the checks, and lies to git."""
    settings = f'quality_checks = ["{CHECK}"]\nmax_task_attempts = 2\ncommit = {("true", "false")[seed % 2]}'
    script = random_agent.script(seed, COMMANDS)
    random_run.begin(settings, script, ENDINGS[seed % 3])
    for name, text in PERSONS.items():
        (random_run.root / name).parent.mkdir(exist_ok=True)
        (random_run.root / name).write_text(text)
    before = random_agent.files_below(random_run.root)
    random_run.loop.tasks("1")
    run = random_run.loop.run(2)
    iterations = random_run.iterations
    assert iterations
    for iteration in iterations:
        kept_files = random_run.attempt(run.run_id, "1", iteration)
        left = random_run.left(iteration)
        if not kept_files:  # completed; tests that the agent removed without need were put back
            kept_files = random_run.verified(run.run_id)
            put_back = {name for name in kept_files if name not in left and kept_files[name] == before.get(name)}
            assert all(map(is_test_file, put_back))
            kept_files = {name: file for name, file in kept_files.items() if name not in put_back}
        if "sparse-checkout" in script:  # the files that it took away are there again
            kept_files = {name: file for name, file in kept_files.items() if name in left}
        assert kept_files == left
    # What the person had is in the work tree, unless the agent changed it, and in a ref in any case.
    persons_files = random_run.persons(run.run_id)
    assert {name: persons_files.get(name) for name in PERSONS} == {name: before[name] for name in PERSONS}
    if random_run.loop.statuses() == {"1": "blocked"}:
        now = random_agent.files_below(random_run.root)
        assert {name: file for name, file in now.items() if name not in PERSONS} == {
            name: file for name, file in before.items() if name not in PERSONS
        }
