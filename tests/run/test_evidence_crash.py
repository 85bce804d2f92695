"""A run that is killed in any corner of the evidence resumes with the same grades, attempts and receipts.

Agents, checks, sealed checks, `prepare` and the canary are scripts that count their calls, and kill the run at the
n-th of all. `make crash` kills it at every call of each scenario, and at operations of its disk; `make test` tries
two calls of each.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.length import FULL, at_length

from samuel.base.paths import User
from samuel.history.history import History
from samuel.receipts.statement import read_statement, why_not_of
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .test_crash import git, home  # noqa: F401

PARTS = at_length(2, 6)

# It works until all tasks are completed, decides what waits for a person, and dies at the n-th operation of its
# disk (0: never). It leads a process group, which the scripts kill.
DRIVER = """
import os, signal, subprocess, sys
from pathlib import Path
from samuel.app import App, Machine, Overrides
from samuel.attempt.stop import Stop
from samuel.base.paths import User
from samuel.files.atomic import Disk
from samuel.history.run_file import RunFile
from samuel.tasks.question import is_dispute
from samuel.tasks.store import TaskStore

class Deadly(Disk):
    count = 0

    def __getattribute__(self, name):
        if name in ("replace", "remove", "write"):
            Deadly.count += 1
            if Deadly.count == int(sys.argv[1]):
                os.killpg(0, signal.SIGKILL)
        return super().__getattribute__(name)

def samuel(*words):
    subprocess.run([installed, "-P", "-m", "samuel", "run", *words], check=True, stdout=2)

state = Path(".samuel/run").absolute()
installed, sys.executable = sys.executable, sys.argv[2] + "/python"
Path("../pid").write_text(str(os.getpid()))
record = User.from_environment().record(state)
while True:
    run, tasks = RunFile(state, record).load(), TaskStore(state).load()
    if run is not None and run.exit_reason and all(task.status == "completed" for task in tasks):
        break
    assert all(task.status != "blocked" for task in tasks), tasks
    for task in tasks if run is not None and run.exit_reason else ():
        for question in task.open_questions:
            if not is_dispute(question):
                samuel("answer", question.id, "1")
            elif task.id == "1":
                samuel("accept", task.id, "--yes")
            else:
                samuel("refuse", task.id, "the old test is right")
    with App(".", machine=Machine(disk=Deadly()), overrides=Overrides(trust_everything=True)) as app:
        app.loop(Stop()).run(20, ["mine", "other"])
print(Deadly.count, file=sys.stderr)
"""
CALLED = """echo "$0" >> {base}/calls
if [ "$(wc -l < {base}/calls)" = "$(cat {base}/die-at)" ]; then kill -9 -$(cat {base}/pid); sleep 5; fi
"""
SUITE = f"exec {sys.executable} -m unittest discover -s tests -t .\n"
MODULE = "def f(n):\n    return n\n"
TEST = """\
import unittest

from m{0} import f


class T{0}(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), 1)
"""
NEW_TEST = TEST + "\n    def test_new(self):\n        self.assertEqual(f(-2), 2)\n"
DONE = 'samuel run done "$SAMUEL_TASK_ID"\n'
FIXED = "def f(n):\n    return abs(n)\n"


def write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"


PROVE = write("m1.py", FIXED) + write("tests/test_m1.py", NEW_TEST.format(1))
CONTEST = write("m$SAMUEL_TASK_ID.py", "def f(n):\n    return -n\n") + (
    'sed "s/f(1), 1/f(1), -1/" tests/test_m$SAMUEL_TASK_ID.py > t; mv t tests/test_m$SAMUEL_TASK_ID.py\n'
)
LOCKED = write("tests/test_locked.py", NEW_TEST.format(1).replace("f(1), 1", "f(-1), 1"))


class Scenario(NamedTuple):
    tasks: tuple[Task, ...]
    agent: str
    """What the worker does; it has its prompt in `$1`."""
    grades: tuple[str, ...]
    corners: frozenset[str]
    """Corners that it must pass through, else it shows nothing about them."""
    settings: str = ""
    author: str = ""


def fix(id: str, **more: Any) -> Task:
    return Task(id=id, title=f"Fix {id}", kind="fix", **more)


SCENARIOS = {
    "proof": Scenario(
        (fix("1"),),
        f"echo two > requirements.txt\n{PROVE}{DONE}",
        ("proven",),
        frozenset(("own", "old tests", "old source", "planted")),
        'prepare = "sh prepare.sh requirements.txt"\n',
    ),
    "own check": Scenario(
        (fix("1"), fix("2", checks=("sh check.sh && grep -q abs m2.py",))),
        f"{write('m$SAMUEL_TASK_ID.py', FIXED)}{DONE}",
        ("checked", "proven"),  # the first goes back once
        frozenset(("own", "before", "planted")),
    ),
    "sealed": Scenario(
        (fix("1"),),
        f"{write('m1.py', FIXED)}{DONE}",
        ("proven",),
        frozenset(("own", "sealed", "sealed before", "planted")),
        'sealed_checks = ["../sealed/run"]\ncanary = "sh canary.sh"\n',
    ),
    "disputed": Scenario(
        (fix("1"), fix("2")),
        f'if grep -q "the old test is right" "$1"; then\n{write("m2.py", FIXED)}else\n{CONTEST}fi\n{DONE}',
        ("disputed", "checked"),
        frozenset(("own", "old tests")),
    ),
    "acceptance": Scenario(
        (fix("1"),),
        f'if grep -q "keep the acceptance tests" "$1"; then\n{write("m1.py", FIXED)}{DONE}'
        'else samuel run dispute "it is wrong"; fi\n',
        ("proven",),
        frozenset(("own", "acceptance", "acceptance before", "planted")),
        'acceptance = "agent"\nacceptance_visible = false\n',
        LOCKED,
    ),
}


def make(base: Path, scenario: Scenario) -> Path:
    """The project of a scenario, before its first run; at the same place each time, so that trees are the same."""
    root = base / "project"
    shutil.rmtree(base, ignore_errors=True)
    shutil.rmtree(User.from_environment().state, ignore_errors=True)
    (root / "tests").mkdir(parents=True)
    (base / "sealed").mkdir()
    called = CALLED.format(base=base)
    scripts = {
        "mine.sh": scenario.agent,
        "other.sh": scenario.author,
        "check.sh": SUITE,
        "prepare.sh": "mkdir -p node_modules; cp requirements.txt node_modules/made\n",
        "canary.sh": "echo raise SystemError > tests/test_m2.py\n",
        "../sealed/run": "grep -q abs m1.py\n",
    }
    for name, script in scripts.items():
        (root / name).write_text(f"#!/bin/sh\nset -e\n{called}{script}")
        (root / name).chmod(0o755)
    for id in "12":
        (root / f"m{id}.py").write_text(MODULE)
        (root / f"tests/test_m{id}.py").write_text(TEST.format(id))
    (root / "tests/__init__.py").touch()
    (root / "requirements.txt").write_text("one\n")
    (root / ".gitignore").write_text("node_modules/\n__pycache__/\n")
    (root / "samuel.toml").write_text(
        '[methodology.ralph]\nagents = ["mine", "other"]\npause = "0s"\ncommit = true\nmax_task_attempts = 3\n'
        f'quality_checks = ["sh check.sh"]\n{scenario.settings}'
        '[agents.mine]\ncommand = ["./mine.sh", "{prompt_file}"]\n'
        '[agents.other]\ncommand = ["./other.sh", "{prompt_file}"]\n'
    )
    TaskStore(root / ".samuel/run").replace_all(scenario.tasks)
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "t"],
        ["config", "user.email", "t@example.org"],
        ["add", "-A", ":!.samuel"],
        ["commit", "-q", "-m", "begin"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    (base / "die-at").write_text("never")
    return root


def driven(root: Path, programs: Path, operation: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(operation), str(programs)]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=900, start_new_session=True, check=False
    )


class Ended(NamedTuple):
    """What a scenario comes to, without what names a run."""

    tasks: list[tuple[str, str, str, int]]
    attempts: dict[str, list[tuple[str, ...]]]
    """By task: the mode, outcome and evidence of each attempt, and which check said what in which corner."""
    receipts: dict[str, Any]

    @property
    def corners(self) -> set[str]:
        return {text.split(":")[0] for rows in self.attempts.values() for row in rows for text in row[3:]}


def ended(root: Path) -> Ended:
    tasks = TaskStore(root / ".samuel/run").load()
    runs = History.of(root / ".samuel/run", User.from_environment().record(root / ".samuel/run")).all()
    attempts: dict[str, list[tuple[str, ...]]] = {task.id: [] for task in tasks}
    for history in reversed([*runs]):
        for entry in history.attempts:
            # After a kill between a question and the end of its iteration, the question alone is there.
            if str(entry.outcome) != "asked":
                evidence = entry.evidence.words if entry.evidence else ""
                checks = (
                    f"{check.corner}: {check.command} {check.passed} {check.flaky}" for check in entry.checks
                )
                attempts[entry.task_id].append((entry.mode, str(entry.outcome), evidence, *checks))
    return Ended(
        [(task.id, task.status, task.grade, task.attempts) for task in tasks], attempts, dict(receipts(root))
    )


def receipts(root: Path) -> Iterator[tuple[str, Any]]:
    """The predicates of the receipts, by task; each commit of a task has one, written once."""
    commits = git(root, "log", "--format=%H", "--grep=^Samuel-Iteration: ").split()
    notes = dict(line.split()[::-1] for line in git(root, "notes", "--ref=samuel", "list").splitlines())
    assert sorted(notes) == sorted(commits)
    assert git(root, "rev-list", "--count", "refs/notes/samuel").strip() == str(len(commits))
    for commit in commits:
        receipt = read_statement(git(root, "cat-file", "blob", notes[commit]).encode())
        tree, message = git(root, "log", "-1", "--format=%T%n%B", "--no-notes", commit).split("\n", 1)
        assert why_not_of(receipt, commit, tree, message) == ""
        predicate = receipt["predicate"]
        yield (
            predicate["task"]["id"],
            {name: value for name, value in predicate.items() if name not in ("run", "iteration")},
        )


class Undisturbed(NamedTuple):
    end: Ended
    calls: list[str]
    """The scripts that were called, in this order."""
    operations: int


def undisturbed(base: Path, scenario: Scenario, programs: Path) -> Undisturbed:
    root = make(base, scenario)
    done = driven(root, programs)
    assert done.returncode == 0, done.stderr
    end = ended(root)
    assert tuple(grade for _, _, grade, _ in end.tasks) == scenario.grades
    assert scenario.corners <= end.corners
    return Undisturbed(end, (base / "calls").read_text().split(), int(done.stderr.split()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SCENARIOS)
def test_run_killed_at_a_call_of_a_script_resumes_with_the_same_grades(
    name: str, part: int, fast_samuel: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    whole = undisturbed(base, SCENARIOS[name], fast_samuel)
    numbers = list(range(1, len(whole.calls) + 1))[part::PARTS]
    if not FULL:
        numbers = random.Random(f"{name} {part}").sample(numbers, 1)
    for number in numbers:
        root = make(base, SCENARIOS[name])
        (base / "die-at").write_text(str(number))
        died = driven(root, fast_samuel)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        (base / "die-at").write_text("never")
        again = driven(root, fast_samuel)
        assert again.returncode == 0, (number, whole.calls[number - 1], again.stderr)
        assert ended(root) == whole.end, (number, whole.calls[number - 1])


@pytest.mark.slow
@pytest.mark.parametrize("name", at_length(["disputed"], list(SCENARIOS)))
def test_run_killed_at_an_operation_of_its_disk_resumes_with_the_same_grades(
    name: str, fast_samuel: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    whole = undisturbed(base, SCENARIOS[name], fast_samuel)
    step = whole.operations // at_length(2, 25)
    for number in range(1 + step // 2, whole.operations, step):
        root = make(base, SCENARIOS[name])
        died = driven(root, fast_samuel, number)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        again = driven(root, fast_samuel)
        assert again.returncode == 0, (number, again.stderr)
        assert ended(root) == whole.end, number
