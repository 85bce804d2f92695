from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.testing import SamuelProject

INTENTS = """
intents:
  - when: ["before I commit", "make dev_check"]
    intent: learn_which_checks_to_run_before_commit
    scope: execution.quality_gates
    topic: pre_commit_checks
    stage: understand
  - when: rollback|roll back
    intent: take_a_release_back
"""


@pytest.fixture
def say(samuel_project: SamuelProject, enable: Callable[..., None]) -> Callable[..., dict[str, Any]]:
    enable("knowledge_trigger", INTENTS)

    def fire(message: str, **more: Any) -> dict[str, Any]:
        return dict(samuel_project.fire("UserPromptSubmit", user_message=message, **more).result)

    return fire


@pytest.mark.slow
def test_knowledge_trigger_turns_a_known_phrase_into_an_intent(say: Callable[..., dict[str, Any]]) -> None:
    assert say("Before I commit, what checks should I run?") == {
        "new_intent": {
            "scope": "execution.quality_gates",
            "topic": "pre_commit_checks",
            "stage": "understand",
            "intent": "learn_which_checks_to_run_before_commit",
            "signals": {"user_raw_input": "Before I commit, what checks should I run?"},
        }
    }


def test_knowledge_trigger_searches_the_last_command_too(say: Callable[..., dict[str, Any]]) -> None:
    hook_result = say("What now?", extra={"cli_command": "make dev_check"})
    assert hook_result["new_intent"]["signals"] == {"user_raw_input": "What now?", "cli_command": "make dev_check"}


def test_knowledge_trigger_takes_the_stage_of_the_event_by_default(say: Callable[..., dict[str, Any]]) -> None:
    hook_result = say("We must ROLL BACK", stage="act")
    assert hook_result["new_intent"]["stage"] == "act"
    assert "stage" not in say("rollback")["new_intent"]


@pytest.mark.parametrize("message", ["", "Paint it blue", "\0" * 1000, "commit " * 200_000])
def test_knowledge_trigger_returns_nothing_for_other_messages(
    say: Callable[..., dict[str, Any]], message: str
) -> None:
    assert say(message) == {}
