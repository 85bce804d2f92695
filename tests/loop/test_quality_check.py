"""The built-in handler of quality.check: what it reports of each command, its variables, and test reports."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from samuel.loop.reports import CheckEnded
from samuel.tasks.task import Task

from .conftest import LoopProject

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


def check(loop: LoopProject, *commands: str, **fields: Any) -> list[dict[str, Any]]:
    with loop.open() as app:
        result = app.fire("quality.check", commands=list(commands), **fields).result
    return [dict(run) for run in result["checks"]]


def test_each_command_is_reported_with_exit_code_time_and_the_end_of_its_output(loop: LoopProject) -> None:
    failed, passed = check(loop, "echo red; exit 3", "echo green")
    assert (failed["passed"], failed["exit_code"], failed["output_tail"]) == (False, 3, "red\n")
    assert (passed["passed"], passed["exit_code"], passed["output_tail"]) == (True, 0, "green\n")
    assert passed["tests"] is None
    ended = [report for report in loop.reports if isinstance(report, CheckEnded)]
    assert [(report.command, report.output_tail) for report in ended] == [
        ("echo red; exit 3", "red\n"),
        ("echo green", "green\n"),
    ]


def test_a_check_knows_the_id_of_its_task(loop: LoopProject) -> None:
    (run,) = check(loop, 'echo "task=$SAMUEL_TASK_ID"', task={"id": "1.10", "title": "x"})
    assert run["output_tail"] == "task=1.10\n"
    (run,) = check(loop, 'echo "task=$SAMUEL_TASK_ID"')
    assert run["output_tail"] == "task=\n"


@pytest.mark.slow
def test_pytest_behind_make_gives_its_tests_by_id(loop: LoopProject) -> None:
    (loop.root / "Makefile").write_text(f"test:\n\t{PYTEST}\n")
    (loop.root / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    (run,) = check(loop, "make test")
    assert run["tests"] == {"test_it::test_a": "passed", "test_it::test_b": "failed"}
    (loop.root / "Makefile").write_text("test:\n\ttrue\n")
    (run,) = check(loop, "make test")
    assert run["tests"] is None  # the report of the run before is not taken for its own


@pytest.mark.slow
def test_a_project_that_writes_its_own_junit_report_is_left_alone(loop: LoopProject) -> None:
    (loop.root / "pytest.ini").write_text("[pytest]\naddopts = --junitxml=mine.xml\n")
    (loop.root / "test_it.py").write_text("def test_a(): pass\n")
    (run,) = check(loop, PYTEST)
    assert run["tests"] is None
    assert (loop.root / "mine.xml").exists()


def node_version() -> int:
    if not shutil.which("node"):
        return 0
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"v(\d+)", version)
    return int(match[1]) if match else 0


@pytest.mark.skipif(node_version() < 20, reason="node 20 or newer is not installed")
def test_the_test_runner_of_node_gives_its_tests(loop: LoopProject) -> None:
    (loop.root / "a.test.js").write_text(
        "const test = require('node:test'); test('adds', () => {}); test.skip('later', () => {});"
    )
    (run,) = check(loop, "node --test")
    assert sorted((run["tests"] or {}).values()) == ["passed", "skipped"]
    assert "adds" in run["output_tail"]


def test_checks_of_tasks_run_only_if_they_are_trusted(loop: LoopProject) -> None:
    loop.store.replace_all([Task(id="1", title="One", checks=("touch ran",))])
    with loop.project.open() as app:
        fired = app.fire("quality.check", commands=["touch ran"], task={"id": "1"})
        typed = app.fire("quality.check", commands=["touch typed"])
    assert not fired.ok
    assert "`checks:ralph:tasks` has not been agreed to yet" in fired.reason
    assert not (loop.root / "ran").exists()
    assert typed.ok
    assert check(loop, "touch ran")[0]["passed"]
