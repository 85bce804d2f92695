"""Trouble of the agent is not the task's fault: limits, logins, busy services and clients that hang."""

from __future__ import annotations

import re

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import do

CLAUDE = {"first": "claude"}
DONE = do(["solve"], ["claim"])
LIMIT_WORDS = "Claude AI usage limit reached|1893456000"
TOO_MANY = 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
OVERLOADED = 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
WRONG_KEY = 'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1, 1000], ids=["seconds", "milliseconds"])
def test_a_usage_limit_is_waited_out_and_costs_no_attempt(make_project: MakeProject, unit: int) -> None:
    project = make_project("One", agents=CLAUDE)
    project.plan("1", do(["limit", 2, unit]), DONE)

    project.start()

    assert project.outcomes("1") == ["limited", "completed"]
    assert [call["attempt"] for call in project.calls()] == ["1", "1"]
    assert project.tasks()["1"]["attempts"] == 0
    assert not project.has_mark("called-before-the-reset")


@pytest.mark.slow
def test_a_run_killed_while_it_waits_for_the_reset_goes_on_with_attempt_1(make_project: MakeProject) -> None:
    project = make_project("One", agents=CLAUDE)
    project.plan("1", do(["limit", 3]), DONE)

    with project.running() as loop:
        project.wait_for(lambda: "wait" in loop.screen, loop)
        loop.kill()
        assert re.search(r"wait.*\d\d:\d\d", loop.screen)  # until when
    assert project.statuses()["1"] != "blocked"
    status = project.status()
    assert status["hold"]["first"]["until"] > status["started_at"]
    assert status["hold"]["first"]["why"] == "Claude AI usage limit reached"
    project.start()
    assert project.status()["hold"] == {}

    assert project.statuses() == {"1": "completed"}
    assert project.tasks()["1"]["attempts"] == 0
    assert [call["attempt"] for call in project.calls()] == ["1", "1"]
    assert not project.has_mark("called-before-the-reset")


@pytest.mark.slow
def test_the_words_of_a_limit_in_a_project_file_or_in_the_agents_text_change_nothing(
    make_project: MakeProject,
) -> None:
    project = make_project("One", "Two", agents=CLAUDE, files={"errors.txt": f"{LIMIT_WORDS}\n{TOO_MANY}\n"})
    words = (["text", LIMIT_WORDS], ["text", TOO_MANY], ["run", "cat", "errors.txt"], ["error", LIMIT_WORDS])
    project.plan("1", do(*words, ["solve"], ["claim"]))
    # It fails for another reason, and its attempt counts.
    project.plan("2", do(*words, ["exit", 3]), DONE)

    project.start()

    assert project.outcomes("1") == ["completed"]
    assert project.outcomes("2") == ["agent_failed", "completed"]
    assert project.tasks()["2"]["attempts"] == 1


@pytest.mark.slow
def test_the_prose_of_an_agent_without_a_stream_counts_only_if_it_failed_and_changed_nothing(
    make_project: MakeProject,
) -> None:
    project = make_project("One", "Two", "Three")
    project.plan("1", do(["say", LIMIT_WORDS], ["solve"], ["claim"]))
    project.plan("2", do(["write", "changed.txt", "x\n"], ["error", LIMIT_WORDS], ["exit", 1]), DONE)
    project.plan("3", do(["limit", 2]), DONE)

    project.start()

    assert project.outcomes("1") == ["completed"]
    assert project.outcomes("2") == ["agent_failed", "completed"]
    assert project.outcomes("3") == ["limited", "completed"]
    assert not project.has_mark("called-before-the-reset")


@pytest.mark.slow
def test_another_agent_takes_over_while_the_first_one_is_at_its_limit(make_project: MakeProject) -> None:
    project = make_project(
        "One", "Two", agents={"first": "claude", "other": "claude"}, settings='agents = ["first", "other"]'
    )
    project.plan("first:1", do(["limit", 3600]))
    project.plan("other:1", DONE)
    project.plan("2", DONE)

    screen = project.start().screen

    assert [call["agent"] for call in project.calls()] == ["first", "other", "other"]
    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert project.tasks()["1"]["attempts"] == 0
    assert "other" in screen


def test_the_key_agent_beside_the_key_agents_is_an_error(make_project: MakeProject) -> None:
    project = make_project("One", agents={"first": "plain", "other": "plain"})
    project.configure('agent = "first"', 'agent = "first"\nagents = ["first", "other"]')

    ran = project.start(code=None)

    assert ran.code != 0
    assert "agents" in ran.screen
    assert project.calls() == []


@pytest.mark.slow
def test_a_limit_that_lasts_longer_than_max_wait_ends_the_run_without_an_attempt(
    make_project: MakeProject,
) -> None:
    project = make_project("One", agents=CLAUDE, settings='max_wait = "1m"')
    project.plan("1", do(["limit", 3600]))

    project.start(code=1)

    assert len(project.calls()) == 1
    assert project.status()["exit_reason"] == "agent_unavailable"
    assert project.statuses() == {"1": "pending"}
    assert project.tasks()["1"]["attempts"] == 0


@pytest.mark.slow
def test_an_agent_that_is_not_logged_in_stops_the_run_at_once_with_what_to_do(make_project: MakeProject) -> None:
    project = make_project("One", "Two", agents=CLAUDE)
    project.plan("*", do(["fail", WRONG_KEY]))

    screen = project.start(code=1).screen

    assert len(project.calls()) == 1
    assert project.status()["exit_reason"] == "agent_unavailable"
    assert {task["attempts"] for task in project.tasks().values()} == {0}
    assert "invalid x-api-key" in screen
    assert re.search(r"log ?in|key", screen.replace("invalid x-api-key", ""))


@pytest.mark.slow
@pytest.mark.parametrize("words", [OVERLOADED, TOO_MANY], ids=["overloaded", "too many requests"])
def test_a_busy_service_is_tried_again_later_and_costs_no_attempt(make_project: MakeProject, words: str) -> None:
    project = make_project("One", agents=CLAUDE)
    project.plan("1", do(["fail", words]), DONE)

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert [call["attempt"] for call in project.calls()] == ["1", "1"]
    assert project.tasks()["1"]["attempts"] == 0


@pytest.mark.slow
def test_the_real_reason_of_a_failure_is_on_the_screen_in_the_task_and_in_the_next_prompt(
    make_project: MakeProject,
) -> None:
    project = make_project("One", agents=CLAUDE)
    project.plan("1", do(["error", "warning: no PATH aliases"], ["fail", "Prompt is too long"]), DONE)

    screen = project.start().screen

    assert "Prompt is too long" in screen
    assert project.outcomes("1") == ["agent_failed", "completed"]
    assert "Prompt is too long" in project.attempts("1")[0]["why"]
    assert "Prompt is too long" in project.prompt(2)


@pytest.mark.slow
def test_an_agent_that_hangs_in_silence_is_ended(make_project: MakeProject) -> None:
    project = make_project("One", settings='idle_timeout = "2s"')
    project.plan("1", do(["sleep", 300]), DONE)

    project.start()

    first, second = project.attempts("1")
    assert (first["outcome"], first["ending"]["kind"]) == ("agent_failed", "idle")
    assert second["outcome"] == "completed"


@pytest.mark.slow
def test_an_agent_whose_child_works_in_silence_is_not_ended(make_project: MakeProject) -> None:
    project = make_project("One", settings='idle_timeout = "2s"')
    project.plan("1", do(["burn", 3], ["solve"], ["claim"]))

    project.start()

    assert project.outcomes("1") == ["completed"]
