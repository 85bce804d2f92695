"""The same attempts have the same grades and receipts in the own tree, in lanes and on machines.

The tasks come one after another, so that each begins with the same files everywhere, and receipts can be compared
to the last byte.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.workspaces.fleet.machines import SshMachines
from tests.workspaces.fleet.project import SETTINGS, FleetProject

from samuel.receipts.statement import read_statement

SUITE = f"{sys.executable} -m unittest discover -s tests -t ."
MODULE = "def f(n):\n    return n\n"
TEST = """\
import unittest

from m{0} import f


class T{0}(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), 1)
"""
NEW_TEST = "\n    def test_new(self):\n        self.assertEqual(f(-2), 2)\n"
ACCEPTANCE = TEST.format("new6") + "\n    def test_two(self):\n        self.assertEqual(f(2), 2)\n"


def write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"


class GradedTask(NamedTuple):
    """A task, what its agent does each time, and what must come of it."""

    body: str
    script: str
    outcomes: tuple[str, ...]
    grade: str
    rests_on: str


TASKS = {
    "1": GradedTask(
        "Kind: fix",
        write("m1.py", "def f(n):\n    return abs(n)\n") + write("tests/test_m1.py", TEST.format(1) + NEW_TEST),
        ("completed",),
        "proven",
        "1 test fails without the change: `tests.test_m1.T1.test_new`",
    ),
    "2": GradedTask(
        "Kind: feature",
        write("mnew2.py", MODULE) + write("tests/test_new2.py", TEST.format("new2")),
        ("completed",),
        "proven, new names only",
        "`tests.test_new2` fails without the change, for a missing name",
    ),
    "3": GradedTask(
        "Kind: refactor",
        write("m3.py", "def f(n):\n    number = n\n    return number\n"),
        ("completed",),
        "checked",
        "no test shows the change: nothing was added or changed that fails without it",
    ),
    "4": GradedTask(
        "Kind: fix",
        write("m4.py", "def f(n):\n    return n + 0\n"),
        ("unproven", "completed"),
        "checked",
        "no test shows the change: nothing was added or changed that fails without it",
    ),
    "5": GradedTask(
        "Kind: chore",
        write("m5.py", "def f(n):\n    return n - 0\n"),
        ("completed",),
        "checked",
        "`sh check.sh` failed once and passed when it was run again, so it shows nothing",
    ),
    "6": GradedTask(
        "Kind: feature\nAcceptance: agent",
        f'if [ "$SAMUEL_MODE" = acceptance ]; then\n{write("tests/test_new6.py", ACCEPTANCE)}'
        f"else\n{write('mnew6.py', MODULE)}fi\n",
        ("incomplete", "completed"),
        "proven",
        "1 acceptance test that failed before passes now: `tests.test_new6`",
    ),
    "7": GradedTask(
        "Kind: feature\nCheck: `grep -q seven m7.py`",
        write("m7.py", MODULE + "\n\nseven = f(7)\n"),
        ("completed",),
        "proven",
        "`grep -q seven m7.py` failed before the work and passes with it",
    ),
    "8": GradedTask(
        "Kind: fix",
        write("m8.py", "import os\n\nos._exit(0)\n"),
        ("unproven", "quality_failed", "quality_failed"),
        "",
        "",
    ),
    "9": GradedTask(
        "Kind: fix",
        write("m9.py", "def f(n):\n    return -n\n")
        + write("tests/test_m9.py", TEST.format(9).replace("f(1), 1", "f(1), -1")),
        ("quality_failed", "disputed", "completed"),
        "disputed",
        "tests fail that were there before; accepted by",
    ),
}
# A task that is blocked or waits would keep the next one waiting.
AFTER = {"2": "1", "3": "2", "4": "3", "5": "4", "6": "5", "7": "6", "8": "7", "9": "7"}
FILES = {
    "tests/__init__.py": "",
    **{f"m{id}.py": MODULE for id in "1345789"},
    **{f"tests/test_m{id}.py": TEST.format(id) for id in "1345789"},
}
FLAKY = 'if [ "$SAMUEL_TASK_ID" = 5 ] && mkdir {outside}/failed-once 2>/dev/null; then exit 1; fi\n'
MODES: dict[str, Callable[[FleetProject], list[str]]] = {
    "own tree": lambda project: [],
    "lanes": lambda project: ["--parallel", "2"],
    "machines": lambda project: project.places(names=("m1",)),
}


@pytest.fixture
def new_project(
    tmp_path: Path, fast_samuel: Path, sshd: SshMachines, with_compiled_python: Callable[[Path], None]
) -> Callable[[], FleetProject]:
    """Makes a new project with new machines in the place of the last one, so that all have the same trees."""

    def make() -> FleetProject:
        base = tmp_path / "base"
        shutil.rmtree(base, ignore_errors=True)
        home = base / "home"
        home.mkdir(parents=True)
        sshd.use(base / "homes")
        for cache in (home / "cache", *(sshd.home(machine) / "cache" for machine in sshd.names)):
            with_compiled_python(cache)
        return FleetProject(base, fast_samuel, home, sshd)

    return make


def start(project: FleetProject, mode: str) -> None:
    if mode == "machines":
        options = MODES[mode](project)
        project.samuel("fleet", "check", *options, code=None)  # which shows its owner the checks of tasks
        project.on_machine("m1", "samuel", "-C", str(project.machines.home("m1") / "clone"), "trust", "--yes")
    project.start(*MODES[mode](project), lanes=0, code=None)


def grading(project: FleetProject, id: str) -> tuple[tuple[str, ...], str, str]:
    """The outcomes of the attempts at a task, its grade, and what that rests on."""
    attempts = project.samuel("run", "show", id, "--json").data["attempts"]
    evidence = attempts[-1].get("evidence") or {}
    return (
        tuple(entry["outcome"] for entry in attempts),
        project.row(id)["grade"] or "",
        evidence.get("rests_on", ""),
    )


def receipts(project: FleetProject) -> dict[str, Any]:
    """The predicates of the receipts of tasks, without what names the run."""
    notes = [line.split()[0] for line in project.git("notes", "--ref=samuel", "list").splitlines()]
    statements = (read_statement(project.git("cat-file", "blob", note).encode()) for note in notes)
    predicates = (statement["predicate"] for statement in statements)
    return {predicate["task"]["id"]: comparable(predicate) for predicate in predicates if "task" in predicate}


def comparable(predicate: Mapping[str, Any]) -> dict[str, Any]:
    """A predicate without the name of the run. In lanes a merge marks the task in prd.md, and not its commit."""
    work = {name: value for name, value in predicate["work"].items() if name != "notCommitted"}
    return {**{key: value for key, value in predicate.items() if key not in ("run", "iteration")}, "work": work}


def differences(left: Any, right: Any, path: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            yield from differences(left.get(key), right.get(key), f"{path}/{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, values in enumerate(zip(left, right, strict=True)):
            yield from differences(*values, f"{path}/{number}")
    elif left != right:
        yield f"{path}: {left!r} != {right!r}"


class Variant(NamedTuple):
    """A project, its tasks, and how it is run."""

    tasks: Mapping[str, GradedTask]
    settings: str = ""
    files: Mapping[str, str] = FILES
    checks: str = '["sh check.sh"]'
    modes: tuple[str, ...] = tuple(MODES)


CANARY = "if [ -e no-canary ]; then exit 3; fi\necho raise SystemError > tests/test_m3.py\n"
SEALED = "#!/bin/sh\ngrep -q abs m1.py\n"
WITHOUT_A_TEST = write("m1.py", "def f(n):\n    return abs(n)\n")
VARIANTS = {
    "grades": Variant(TASKS),
    "canary": Variant(
        {
            "1": TASKS["1"],
            "2": TASKS["3"]._replace(script=f"touch no-canary\n{TASKS['3'].script}"),
        },
        'canary = "sh canary.sh"',
        {**FILES, "canary.sh": CANARY},
    ),
    "no check": Variant(
        {"1": GradedTask("Kind: fix", WITHOUT_A_TEST, ("completed",), "unverified", "no check looked at it")},
        files={"m1.py": MODULE},
        checks="[]",
    ),
    "sealed": Variant(
        {
            "1": GradedTask(
                "Kind: fix",
                WITHOUT_A_TEST,
                ("completed",),
                "proven",
                "`run (sealed)` failed before the work and passes with it",
            )
        },
        'sealed_checks = ["../outside/sealed/run"]',
        {**FILES, "../outside/sealed/run": SEALED},
        modes=("own tree", "lanes"),  # machines cannot have them
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_same_attempts_have_the_same_grades_and_receipts_everywhere(
    variant: Variant, new_project: Callable[[], FleetProject]
) -> None:
    bodies = {
        id: "\n".join([task.body, *([f"Depends on: {AFTER[id]}"] if id in AFTER else [])])
        for id, task in variant.tasks.items()
    }
    first: dict[str, Any] = {}
    for mode in variant.modes:
        project = new_project()
        check = f"{FLAKY.format(outside=project.outside)}exec {SUITE}\n"
        project.prepare(
            bodies,
            settings=f"commit = true\nmax_task_attempts = 2\n{variant.settings}",
            more=SETTINGS,
            files={**variant.files, "check.sh": check},
            checks=variant.checks,
        )
        if "sealed" in variant.settings:
            (project.outside / "sealed/run").chmod(0o755)
        project.publish()
        project.clone("m1")
        for id, task in variant.tasks.items():
            project.task(id, task.script)
        start(project, mode)
        if "disputed" in {task.grade for task in variant.tasks.values()}:
            project.samuel("run", "accept", "9", "--yes")
        for id, task in variant.tasks.items():
            outcomes, grade, rests_on = grading(project, id)
            assert (outcomes, grade) == (task.outcomes, task.grade), (mode, id)
            assert rests_on.startswith(task.rests_on), (mode, id)
        documents = receipts(project)
        first = first or documents
        assert sorted(documents) == [id for id, task in variant.tasks.items() if task.grade]
        assert [*differences(first, documents)] == [], mode
