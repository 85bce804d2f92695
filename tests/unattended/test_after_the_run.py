"""What a person finds after a run: logs of every run, a history, and a report that names the evidence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import UnattendedProject, do

DONE = do(["solve"], ["claim"])
RUN = Path(".samuel/run")


def run_id(project: UnattendedProject) -> str:
    return str(project.status()["run_id"])


@pytest.mark.slow
def test_the_logs_of_an_earlier_run_are_not_overwritten(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(["say", "first words"], ["solve"], ["claim"]))
    project.plan("2", do(["say", "second words"], ["solve"], ["claim"]))

    project.start("--iterations", "1")
    first = run_id(project)
    project.start()
    second = run_id(project)

    assert first != second
    assert "first words" in project.read(f"{RUN}/logs/{first}/iteration-0001.log")
    assert "second words" in project.read(f"{RUN}/logs/{second}/iteration-0001.log")
    history = project.samuel("run", "history", "--json").data
    assert [run["run_id"] for run in history] == [second, first]


@pytest.mark.slow
def test_every_completed_task_in_the_report_names_a_check_result_and_a_commit_that_exists(
    make_project: MakeProject,
) -> None:
    project = make_project("One", "Two", settings="commit = true")
    project.plan("1", do(["break", "calc.py"], ["claim"]), do(["mend", "calc.py"], ["solve"], ["claim"]))

    project.start()

    reports = project.root / RUN / "reports" / run_id(project)
    assert {file.suffix for file in reports.iterdir()} >= {".md", ".json", ".html"}
    assert json.loads(next(reports.glob("*.json")).read_text())
    completed = [project.attempts(task)[-1] for task in ("1", "2")]
    assert [attempt["outcome"] for attempt in completed] == ["completed", "completed"]
    for attempt in completed:
        check = attempt["checks"][0]  # after it, one with a planted failing test
        assert (check["command"], check["exit_code"], check["passed"]) == ("make test", 0, True)
        assert project.files_of(attempt["commit"]) == {f"work{attempt['task_id']}.py"}
        assert [file["path"] for file in attempt["changed_files"]] == [f"work{attempt['task_id']}.py"]
    failed = project.attempts("1")[0]
    assert failed["checks"][-1]["exit_code"] != 0
    assert "broken" in failed["checks"][-1]["output_tail"]
    markdown = project.samuel("run", "report", "--markdown").out
    for attempt in completed:
        assert attempt["commit"][:7] in markdown
    assert "make test" in markdown


@pytest.mark.slow
def test_what_others_wrote_is_escaped_in_the_report(make_project: MakeProject) -> None:
    project = make_project("Show <script>alert(1)</script> safely")

    project.start()

    project.samuel("run", "report", "--html", "report.html")
    html = project.read("report.html")
    assert "<script>alert(1)</script>" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert not re.search(r"(src|href)=[\"']?https?://", html)  # self-contained


@pytest.mark.slow
def test_a_failure_shows_the_tail_of_the_output_and_the_path_of_the_log(make_project: MakeProject) -> None:
    project = make_project("One", settings="max_task_attempts = 1")
    project.plan("1", do(["say", "I tried"], ["break", "calc.py"], ["claim"]))

    screen = project.start(code=1).screen

    assert "RuntimeError: broken" in screen
    assert f"logs/{run_id(project)}/iteration-0001.log" in screen
    assert "samuel run reset" in screen or "samuel run show" in screen


@pytest.mark.slow
def test_status_says_which_task_is_blocked_and_why(make_project: MakeProject) -> None:
    project = make_project("One", settings="max_task_attempts = 1")
    project.plan("1", do(["break", "calc.py"], ["claim"]))

    project.start(code=1)

    status = project.samuel("run", "status").out
    assert run_id(project) in status
    assert "blocked" in status
    assert "make test" in status


@pytest.mark.slow
def test_all_blocked_tasks_are_reset_at_once(make_project: MakeProject) -> None:
    project = make_project("One", "Two", settings="max_task_attempts = 1")
    project.plan("*", do(["break", "calc.py"], ["claim"]))
    project.start(code=1)
    assert project.statuses() == {"1": "blocked", "2": "blocked"}

    project.samuel("run", "reset", "--blocked")

    assert project.statuses() == {"1": "pending", "2": "pending"}


def test_a_dry_run_prints_the_prompt_with_the_prose_of_the_prd(make_project: MakeProject) -> None:
    project = make_project("One")

    screen = project.start("--dry-run").screen

    assert "We need it." in screen
    assert "prd.md" in screen
    assert project.calls() == []


@pytest.mark.slow
def test_the_prompt_names_a_samuel_that_works_without_a_path(make_project: MakeProject) -> None:
    project = make_project("One")
    # As a login shell does, which sets PATH anew.
    find = "grep -o '/[^ `]*bin/samuel' ../outside/prompts/001.md | head -n 1"
    project.plan("1", do(["solve"], ["run", "sh", "-c", f'PATH=/usr/bin:/bin; "$({find})" run done 1']))

    project.start()

    assert [entry["code"] for entry in project.commands()] == [0]
    assert project.statuses() == {"1": "completed"}
