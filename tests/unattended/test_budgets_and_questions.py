"""What a run may use, and what an agent asks: both hold when the run is killed."""

from __future__ import annotations

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import UnattendedProject, do

CLAUDE = {"first": "claude"}
DONE = do(["solve"], ["claim"])
SPENDS = do(["spend", 4000, 500], ["spend", 4000, 500], ["spend", 4000, 500], ["sleep", 60], ["mark", "finished"])


# Budgets


@pytest.mark.slow
def test_a_cap_that_is_reached_in_mid_stream_ends_the_agent_and_costs_no_attempt(
    make_project: MakeProject,
) -> None:
    project = make_project("One", agents=CLAUDE, settings="max_tokens = 10000")
    project.plan("1", SPENDS, DONE)

    screen = project.start(code=0).screen

    assert not project.has_mark("finished")
    assert project.status()["exit_reason"] == "budget"
    assert project.statuses() == {"1": "pending"}
    assert project.tasks()["1"]["attempts"] == 0
    assert project.outcomes("1") == ["over_budget"]
    assert "--add-budget" in screen

    project.start(code=0)  # it is still used up: no agent is paid
    assert len(project.calls()) == 1

    project.start("--add-budget", "20000tokens")

    assert project.statuses() == {"1": "completed"}
    assert [call["attempt"] for call in project.calls()] == ["1", "1"]


@pytest.mark.slow
def test_work_that_is_claimed_when_the_cap_is_reached_is_judged_and_counts(make_project: MakeProject) -> None:
    project = make_project("One", "Two", agents=CLAUDE, settings="max_tokens = 10000")
    project.plan("1", do(["solve"], ["claim"], ["spend", 9000, 1500], ["sleep", 60], ["mark", "finished"]))

    project.start(code=0)

    assert not project.has_mark("finished")
    assert project.status()["exit_reason"] == "budget"
    assert project.statuses() == {"1": "completed", "2": "pending"}
    assert [call["task"] for call in project.calls()] == ["1"]


@pytest.mark.slow
def test_the_cap_of_a_task_ends_its_agent_and_the_other_tasks_go_on(make_project: MakeProject) -> None:
    project = make_project("One", "Two", agents=CLAUDE, settings="max_task_tokens = 10000")
    project.plan("1", SPENDS)

    project.start(code=None)

    assert not project.has_mark("finished")
    assert project.statuses()["1"] != "completed"
    assert project.statuses()["2"] == "completed"
    assert [call["task"] for call in project.calls()] == ["1", "2"]


@pytest.mark.slow
def test_unknown_usage_is_called_unknown_and_not_zero(make_project: MakeProject) -> None:
    project = make_project("One")

    screen = project.start().screen

    assert "unknown" in project.samuel("run", "status").out
    assert "unknown" in project.samuel("run", "report", "--markdown").out
    assert "$0" not in screen
    assert project.attempts("1")[0]["usage"] == {}


@pytest.mark.slow
def test_usage_is_counted_over_a_kill(make_project: MakeProject) -> None:
    project = make_project("One", "Two", agents=CLAUDE)
    project.plan("2", do(["mark", "working"], ["wait", "go"], ["solve"], ["claim"]))
    with project.running() as loop:
        project.wait_for("working", loop)
        loop.kill()
    project.mark("go")

    project.start()

    assert project.status()["usage"]["input_tokens"] >= 200
    assert project.status()["usage"]["cost_usd"] >= 0.02


# Questions

ASK = ["run", "samuel", "run", "ask", "Which colour?", "--option", "red", "--option", "blue"]


def questions(project: UnattendedProject) -> list[dict[str, object]]:
    """`samuel run questions --json`: [{"id", "task", "text", "options", ...}, ...], the open ones."""
    return list(project.samuel("run", "questions", "--json").data)


def check_parked(project: UnattendedProject) -> None:
    (question,) = questions(project)
    assert question["task"] == "1"
    assert question["text"] == "Which colour?"
    assert question["options"] == ["red", "blue"]
    assert project.statuses() == {"1": "waiting", "2": "completed"}
    assert [call["task"] for call in project.calls()] == ["1", "2"]
    assert project.tasks()["1"]["attempts"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("by", ["task", "question"])
def test_a_question_parks_its_task_until_it_is_answered(make_project: MakeProject, by: str) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(ASK), DONE)

    screen = project.start(code=1).screen

    check_parked(project)
    assert project.status()["exit_reason"] == "waiting"
    assert "Which colour?" in screen
    assert "samuel run answer" in screen

    id = "1" if by == "task" else str(questions(project)[0]["id"])
    project.samuel("run", "answer", id, "blue, like the sea")
    assert questions(project) == []
    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert "blue, like the sea" in project.prompt(-1)
    assert "Which colour?" in project.prompt(-1)


@pytest.mark.slow
def test_a_question_survives_a_kill_right_after_it(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(ASK, ["mark", "question"], ["sleep", 60]), DONE)

    with project.running() as loop:
        project.wait_for("question", loop)
        loop.kill()
    project.start(code=1)

    check_parked(project)
    project.samuel("run", "answer", "1", "blue")
    project.start()
    assert "blue" in project.prompt(-1)
    assert project.statuses() == {"1": "completed", "2": "completed"}


@pytest.mark.slow
def test_an_answer_survives_a_kill_while_the_next_attempt_works(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(ASK), do(["mark", "working"], ["sleep", 60]), DONE)
    project.start(code=1)
    project.samuel("run", "answer", "1", "blue")

    with project.running() as loop:
        project.wait_for("working", loop)
        loop.kill()
    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert "blue" in project.prompt(-1)
    assert questions(project) == []


@pytest.mark.slow
def test_a_question_can_be_answered_while_the_run_goes_on(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(ASK), DONE)
    project.plan("2", do(["mark", "second"], ["wait", "go"], ["solve"], ["claim"]))

    with project.running() as loop:
        project.wait_for("second", loop)
        project.samuel("run", "answer", "1", "blue")
        project.mark("go")
        assert loop.end().code == 0

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert [call["task"] for call in project.calls()] == ["1", "2", "1"]


@pytest.mark.slow
def test_an_agent_cannot_answer_its_own_question(make_project: MakeProject) -> None:
    project = make_project("One", "Two")
    project.plan("1", do(ASK, ["run", "samuel", "run", "answer", "1", "red"]))

    project.start(code=1)

    assert project.commands()[-2]["code"] != 0 or project.commands()[1]["code"] != 0
    check_parked(project)
