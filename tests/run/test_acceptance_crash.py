"""A run that is killed while acceptance tests are written or used resumes with the same result and grade."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.base.paths import User
from samuel.history.history import History
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .test_crash import home  # noqa: F401

PARTS = at_length(2, 16)

# A driver that dies at the n-th operation of its disk (0: never); agents and checks kill it by its number.
DRIVER = """
import os, signal, sys
from pathlib import Path
from samuel.app import App, Machine, Overrides
from samuel.attempt.stop import Stop
from samuel.files.atomic import Disk

class Deadly(Disk):
    count = 0

    def __getattribute__(self, name):
        if name in ("replace", "remove", "write"):
            Deadly.count += 1
            if Deadly.count == int(sys.argv[1]):
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__getattribute__(name)

sys.executable = sys.argv[2] + "/python"
Path("../pid").write_text(str(os.getpid()))
with App(".", machine=Machine(disk=Deadly()), overrides=Overrides(trust_everything=True)) as app:
    run = app.loop(Stop()).run(10, ["mine", "other"])
print(run.exit_reason, Deadly.count, file=sys.stderr)
"""
KILL = """kill_run() {{
    [ "$(cat {base}/die-at)" != "$1" ] || {{ echo never > {base}/die-at; kill -9 $(cat {base}/pid); sleep 5; }}
}}
"""
ACCEPTANCE = (
    "import unittest\n\nfrom words import plural\n\n\nclass AcceptanceTest(unittest.TestCase):\n"
    "    def test_fox(self):\n        self.assertEqual(plural('fox'), 'foxes')\n\n"
    "    def test_wax(self):\n        self.assertEqual(plural('wax'), 'waxes')\n"
)
TEST = (
    "import unittest\n\nfrom words import plural\n\n\nclass WordsTest(unittest.TestCase):\n"
    "    def test_cat(self):\n        self.assertEqual(plural('cat'), 'cats')\n"
)
WORDS = "def plural(word):\n    return word + 's'\n"
FIXED = "def plural(word):\n    return word + ('es' if word.endswith('x') else 's')\n"
AUTHOR = "kill_run author\ncat > tests/test_fox.py <<'END'\n" + ACCEPTANCE + "END\nkill_run written\n"
WORKER = (
    "kill_run worker\ncat > words.py <<'END'\n"
    + FIXED
    + "END\nkill_run work\nsamuel run done 1\nkill_run claimed\n"
)
CHECK = """echo >> {base}/checks
kill_run check-$(($(wc -l < {base}/checks)))
exec {python} -m unittest discover -s tests -t .
"""
STEPS = ["author", "written", "worker", "work", "claimed", *(f"check-{number}" for number in range(1, 7))]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    kill = KILL.format(base=tmp_path)
    for name, script in (("mine", WORKER), ("other", AUTHOR)):
        (root / f"{name}.sh").write_text(f"#!/bin/sh\nset -e\n{kill}{script}")
        (root / f"{name}.sh").chmod(0o755)
    (root / "check.sh").write_text(kill + CHECK.format(base=tmp_path, python=sys.executable))
    (root / "words.py").write_text(WORDS)
    (root / "tests/__init__.py").touch()
    (root / "tests/test_words.py").write_text(TEST)
    (root / "samuel.toml").write_text(
        '[methodology.ralph]\nagents = ["mine", "other"]\npause = "0s"\ncommit = true\nacceptance = "agent"\n'
        'acceptance_visible = false\nquality_checks = ["sh check.sh"]\n'
        '[agents.mine]\ncommand = ["./mine.sh", "{prompt_file}"]\n'
        '[agents.other]\ncommand = ["./other.sh", "{prompt_file}"]\n'
    )
    TaskStore(root / ".samuel/run").replace_all([Task(id="1", title="Fix the plural of words that end in x")])
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "t"],
        ["config", "user.email", "t@example.org"],
        ["add", "-A", ":!.samuel"],
        ["commit", "-q", "-m", "begin"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    (tmp_path / "die-at").write_text("never")
    return root


def driven(root: Path, programs: Path, die_at: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(die_at), str(programs)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)


def check_the_end(root: Path) -> None:
    (task,) = TaskStore(root / ".samuel/run").load()
    assert (task.status, task.grade, task.attempts) == ("completed", "proven", 0)
    private = User.from_environment().record(root / ".samuel/run")
    runs = History.of(root / ".samuel/run", private).all()
    (history,) = [
        run for run in runs if run.attempts
    ]  # one that was killed at its very end is followed by another
    assert [(entry.mode, entry.agent, str(entry.outcome)) for entry in history.attempts] == [
        ("acceptance", "other", "incomplete"),
        ("implementation", "mine", "completed"),
    ]
    work = history.attempts[-1]
    assert work.acceptance is not None
    assert (len(work.acceptance.tests), work.acceptance.hidden) == (2, 1)
    assert work.evidence is not None
    assert len(work.evidence.fail_to_pass) == 2
    commit = subprocess.run(
        ["git", "show", "--format=", "--name-only", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    )
    assert commit.stdout.split() == ["tests/test_fox.py", "words.py"]
    assert (root / "tests/test_fox.py").read_text() == ACCEPTANCE
    (memory,) = User.from_environment().state.rglob("acceptance.json")
    assert json.loads(memory.read_text()) == {}


@pytest.mark.parametrize("step", STEPS)
def test_run_killed_at_a_step_of_the_acceptance_resumes_with_the_same_grade(
    project: Path, fast_samuel: Path, step: str
) -> None:
    (project.parent / "die-at").write_text(step)
    died = driven(project, fast_samuel)
    assert died.returncode == -signal.SIGKILL, died.stderr
    (project.parent / "die-at").write_text("never")
    ended = driven(project, fast_samuel)
    assert ended.returncode == 0, ended.stderr
    check_the_end(project)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_run_killed_at_an_operation_of_the_disk_resumes_with_the_same_grade(
    project: Path, fast_samuel: Path, tmp_path: Path, part: int
) -> None:
    whole = shutil.copytree(project, tmp_path / "whole", symlinks=True)
    count = int(driven(whole, fast_samuel).stderr.split()[-1])
    check_the_end(whole)
    step = at_length(count // 3, PARTS * 2)
    for number in range(1 + part * step // PARTS, count, step):
        shutil.rmtree(tmp_path / "home" / "state", ignore_errors=True)
        root = shutil.copytree(project, tmp_path / "again", symlinks=True)
        died = driven(root, fast_samuel, number)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        ended = driven(root, fast_samuel)
        assert ended.returncode == 0, (number, ended.stderr)
        check_the_end(root)
        shutil.rmtree(root)
