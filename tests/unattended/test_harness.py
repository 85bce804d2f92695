"""The stand-in agent and its project, tried without any trouble: what the other tests here rest on."""

from __future__ import annotations

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import do


@pytest.mark.slow
def test_a_run_without_trouble_completes_its_tasks_in_their_own_commits(make_project: MakeProject) -> None:
    project = make_project("One", "Two", settings="commit = true")
    project.dirty_files()
    project.use_installed_samuel()

    with project.running() as loop:
        assert loop.end().code == 0

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert [call["task"] for call in project.calls()] == ["1", "2"]
    assert not any(call["overlap"] for call in project.calls())
    for id, task in project.tasks().items():
        assert project.files_of(task["commit_sha"]) == {f"work{id}.py"}
    project.check_dirty_files()


@pytest.mark.slow
def test_a_task_that_fails_in_the_check_is_done_by_the_next_attempt(make_project: MakeProject) -> None:
    project = make_project("One")
    project.plan("1", do(["break", "calc.py"], ["claim"]), do(["mend", "calc.py"], ["solve"], ["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert [call["attempt"] for call in project.calls()] == ["1", "2"]
    assert [entry["code"] for entry in project.commands()] == [0, 0]


def test_the_oracle_names_the_tasks_that_are_not_done(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    (project.oracle / "1.py").write_text("import work1\nassert work1.VALUE == 1\n")
    (project.oracle / "2.py").write_text("import work2\nassert work2.VALUE == 2\n")
    project.write("work1.py", "VALUE = 1\n")

    assert project.failing(project.root, ["1", "2"]) == ["2"]
