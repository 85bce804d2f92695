"""The built-in handler of quality.check: what it reports of each command, its variables, and test reports."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from samuel.history.notices import CheckEnded
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
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"pytest.ini": "[pytest]\naddopts = --junitxml=mine.xml\n"}, ""),
        ({"setup.cfg": "[tool:pytest]\naddopts = -ra --junit-xml mine.xml\n"}, ""),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--junitxml=mine.xml']\n"}, ""),
        ({}, " --junitxml=mine.xml"),
        ({}, " --junit-xml mine.xml"),
        ({"pytest.ini": "[pytest]\naddopts = --junitxml=other.xml\n"}, " --junitxml=mine.xml"),
    ],
)
def test_the_report_that_a_project_writes_itself_is_written_and_read(
    loop: LoopProject, settings: dict[str, str], options: str
) -> None:
    for name, text in settings.items():
        (loop.root / name).write_text(text)
    (loop.root / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    (run,) = check(loop, PYTEST + options)
    assert run["tests"] == {"test_it::test_a": "passed", "test_it::test_b": "failed"}
    assert (loop.root / "mine.xml").exists()


@pytest.mark.slow
def test_a_setting_about_junit_does_not_switch_reports_off(loop: LoopProject) -> None:
    (loop.root / "pytest.ini").write_text("[pytest]\njunit_family = xunit2\njunit_logging = all\n")
    (loop.root / "test_junit.py").write_text("def test_a(): pass\n")
    (run,) = check(loop, f"{PYTEST} -k 'a or junit'")
    assert run["tests"] == {"test_junit::test_a": "passed"}


@pytest.mark.slow
def test_a_report_of_an_earlier_run_is_not_taken_for_one_of_this_run(loop: LoopProject) -> None:
    (loop.root / "mine.xml").write_text("<testsuite><testcase name='old'/></testsuite>")
    (loop.root / "test_it.py").write_text("raise SystemExit(3)\n")
    (run,) = check(loop, f"cd . && exit 3; {PYTEST} --junitxml=mine.xml")
    assert (run["exit_code"], run["tests"]) == (3, None)


@pytest.mark.slow
def test_pytest_without_its_report_plugin_is_not_asked_for_a_report(loop: LoopProject) -> None:
    (loop.root / "test_it.py").write_text("def test_a(): pass\n")
    (run,) = check(loop, f"{PYTEST} -p no:junitxml")
    assert (run["passed"], run["tests"]) == (True, None)


@pytest.mark.slow
def test_a_report_with_a_failed_test_is_red_whatever_the_exit_code(loop: LoopProject) -> None:
    leaving = "import atexit, os\natexit.register(lambda: os._exit(0))\n"
    (loop.root / "test_it.py").write_text(f"{leaving}def test_b(): assert 0\n")
    with loop.open() as app:
        fired = app.fire("quality.check", commands=[PYTEST])
    (run,) = fired.result["checks"]
    assert (fired.ok, run["passed"], run["exit_code"]) == (False, False, 0)
    assert "ended with exit code 0, but tests of its report failed: test_it::test_b" in fired.reason


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


@pytest.mark.slow
@pytest.mark.skipif(node_version() < 20, reason="node 20 or newer is not installed")
def test_node_writes_a_report_beside_those_that_the_project_asks_for(loop: LoopProject) -> None:
    (loop.root / "package.json").write_text('{"scripts": {"other": "node --test --test-reporter=tap"}}')
    (loop.root / "a.test.js").write_text(
        "const test = require('node:test'); test('adds', () => {});"
        "test('later', {todo: true}, () => { throw new Error('not yet'); });"
    )
    (run,) = check(loop, "node --test")
    assert (run["passed"], sorted((run["tests"] or {}).values())) == (True, ["passed", "skipped"])
    own = "--test-reporter=tap --test-reporter-destination=stdout"
    (run,) = check(loop, f"node --test {own}")
    assert sorted((run["tests"] or {}).values()) == ["passed", "skipped"]
    assert "TAP version" in run["output_tail"]
    (run,) = check(loop, "node --test --test-reporter=tap")  # no room for another reporter: what it prints counts
    assert (run["passed"], sorted((run["tests"] or {}).values())) == (True, ["passed", "skipped"])


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
