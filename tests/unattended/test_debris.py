"""A failed task leaves nothing behind that another one has to pay for, and nothing is lost."""

from __future__ import annotations

import re
import shutil

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import CALC, do

BROKEN = "def add(a, b:\n"
DEBRIS = do(["write", "calc.py", BROKEN], ["write", "debris.py", "left = True\n"], ["claim"])
DONE = do(["solve"], ["claim"])


@pytest.mark.slow
def test_broken_code_of_a_failed_task_does_not_reach_the_innocent_task_after_it(make_project: MakeProject) -> None:
    project = make_project("Hard", "Housekeeping")
    project.plan("1", do(["write", "calc.py", BROKEN], ["write", "debris.py", "left = True\n"], ["exit", 1]))

    project.start(code=1)

    assert project.statuses() == {"1": "blocked", "2": "completed"}
    assert project.outcomes("2") == ["completed"]
    assert project.read("calc.py") == CALC
    assert not project.exists("debris.py")


@pytest.mark.slow
def test_three_failures_of_a_task_block_it_and_what_depends_on_it_and_the_rest_goes_on(
    make_project: MakeProject,
) -> None:
    project = make_project("Hard", "Needs it", "Needs that", "Free", t2="Depends on: 1", t3="Depends on: 2")
    project.plan("1", DEBRIS)

    project.start(code=1)

    assert project.statuses() == {"1": "blocked", "2": "pending", "3": "pending", "4": "completed"}
    assert [call["task"] for call in project.calls()] == ["1", "1", "1", "4"]
    assert project.status()["exit_reason"] == "tasks_blocked"


@pytest.mark.slow
def test_failures_of_several_tasks_in_a_row_end_the_run(make_project: MakeProject) -> None:
    project = make_project("A", "B", "C", "D", settings="max_task_attempts = 1")
    project.plan("*", DEBRIS)

    project.start(code=1)

    assert [call["task"] for call in project.calls()] == ["1", "2", "3"]
    assert project.status()["exit_reason"] == "consecutive_failures"


@pytest.mark.slow
def test_changes_of_a_blocked_task_are_in_a_ref_can_be_shown_and_restored(make_project: MakeProject) -> None:
    project = make_project("Hard", settings="max_task_attempts = 2")
    project.plan("1", DEBRIS)
    project.dirty_files()

    screen = project.start(code=1).screen

    assert project.read("calc.py") == CALC
    refs = project.git("for-each-ref", "--format=%(refname)", "refs/samuel/*/1/*").split()
    assert [ref.split("/")[-2:] for ref in refs] == [["1", "1"], ["1", "2"]]
    assert project.git("show", f"{refs[-1]}:debris.py") == "left = True\n"
    assert project.attempts("1")[-1]["ref"] == refs[-1]
    assert "samuel run" in screen  # what to do next
    diff = project.samuel("run", "show", "1", "--diff").out
    assert "debris.py" in diff
    assert "+def add(a, b:" in diff

    project.samuel("run", "restore", "1")

    assert project.read("calc.py") == BROKEN
    assert project.read("debris.py") == "left = True\n"
    project.check_dirty_files()


@pytest.mark.slow
def test_the_next_attempt_goes_on_with_what_the_last_one_left(make_project: MakeProject) -> None:
    project = make_project("Long")
    first = do(["write", "part.py", "x = 1\n"], ["write", "calc.py", BROKEN], ["claim"])
    project.plan("1", first, do(["run", "cat", "part.py"], ["write", "calc.py", CALC], ["solve"], ["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert next(entry["out"] for entry in project.commands() if entry["command"][0] == "cat") == "x = 1\n"
    assert project.exists("part.py")


@pytest.mark.slow
def test_a_fresh_retry_starts_from_the_verified_tree_with_the_old_diff_to_read(make_project: MakeProject) -> None:
    project = make_project("Long", settings='retry = "fresh"')
    project.plan("1", do(["write", "part.py", "x = 1\n"], ["write", "calc.py", BROKEN], ["claim"]), DONE)

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert not project.exists("part.py")
    assert project.read("calc.py") == CALC
    assert "part.py" in project.prompt(2)


@pytest.mark.slow
def test_files_that_a_person_changed_are_never_touched_or_committed(make_project: MakeProject) -> None:
    project = make_project("Hard", "Free", settings="commit = true\nmax_task_attempts = 2")
    project.plan("1", DEBRIS)
    project.dirty_files()

    project.start(code=1)

    assert project.statuses() == {"1": "blocked", "2": "completed"}
    project.check_dirty_files()
    assert set(project.git("status", "--porcelain").splitlines()) == {" M NOTES.md", "?? draft.txt"}


@pytest.mark.slow
def test_a_completed_task_whose_changes_cannot_be_committed_is_named_loudly(make_project: MakeProject) -> None:
    project = make_project("Write the notes", settings="commit = true")
    project.dirty_files()
    # The file is a person's, and so the run does not commit it.
    project.plan("1", do(["append", "NOTES.md", "of the agent\n"], ["claim"]))

    screen = project.start(code=None).screen

    assert project.tasks()["1"]["commit_sha"] == ""
    assert re.search(r"(no|without a) commit", screen)
    assert "NOTES.md" in screen


@pytest.mark.slow
def test_a_project_without_git_works_as_before_and_says_what_is_missing(make_project: MakeProject) -> None:
    project = make_project("Hard", "Free", settings="max_task_attempts = 1")
    shutil.rmtree(project.root / ".git")
    project.plan("1", do(["write", "debris.py", "left = True\n"], ["exit", 1]))

    screen = project.start(code=1).screen

    assert project.statuses() == {"1": "blocked", "2": "completed"}
    assert project.exists("debris.py")
    assert "git" in screen
