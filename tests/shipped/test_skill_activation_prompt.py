from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.testing import SamuelProject

FILES = {
    "ABILITY.md": """
        | Id | Type | Scope | When to use | Registry path |
        |---|---|---|---|---|
        | billing_regression | workflow | billing | The billing tests | .system/registry/high-level/x.yaml |
        """,
    ".system/registry/high-level/x.yaml": """
        id: billing_regression
        type: workflow
        summary: Runs the regression suite of the billing module.
        scope: {modules: [billing], environments: [dev, staging]}
        routing_hints: {keywords: [billing regression tests, invoice suite]}
        implementation: {kind: script, script: {path: run.sh}}
        """,
    ".system/registry/low-level/mail.yaml": """
        operation_key: mail.send
        summary: Sends an e-mail to a customer.
        routing_hints: {keywords: [send mail, notify customer]}
        implementation: {kind: script, script: {path: run.sh}}
        """,
}


@pytest.fixture
def say(
    samuel_project: SamuelProject, enable: Callable[..., None], put: Callable[..., None]
) -> Callable[..., dict[str, Any]]:
    put(FILES)
    enable("skill_activation_prompt")

    def fire(message: str, environment: str = "dev", **more: Any) -> dict[str, Any]:
        with samuel_project.open(environment=environment) as app:
            return dict(app.fire("UserPromptSubmit", user_message=message, **more).result)

    return fire


def test_skill_activation_suggests_the_ability_that_a_message_asks_for(say: Callable[..., dict[str, Any]]) -> None:
    hook_result = say("I need to run the full billing regression tests")
    (suggestion,) = hook_result["suggested_abilities"]
    assert suggestion["id"] == "billing_regression"
    assert suggestion["reason"] == "The billing tests"
    assert 0.5 < suggestion["confidence"] <= 1
    assert hook_result["messages_to_user"] == [
        "You can use the workflow ability `billing_regression`: Runs the regression suite of the billing module."
    ]


def test_skill_activation_suggests_a_low_level_ability_without_a_type(say: Callable[..., dict[str, Any]]) -> None:
    hook_result = say("send mail and notify customer")
    assert hook_result["messages_to_user"] == [
        "You can use the ability `mail.send`: Sends an e-mail to a customer."
    ]


@pytest.mark.slow
def test_skill_activation_suggests_nothing_of_another_environment(say: Callable[..., dict[str, Any]]) -> None:
    assert "suggested_abilities" in say("run the billing regression tests", environment="dev")
    assert "suggested_abilities" not in say("run the billing regression tests", environment="prod")


def test_skill_activation_suggests_nothing_of_another_scope(say: Callable[..., dict[str, Any]]) -> None:
    assert "suggested_abilities" not in say("run the billing regression tests", extra={"scope": "auth"})


@pytest.mark.parametrize("message", ["", "What is the weather like?", '" OR 1 NEAR(', "word " * 200_000])
def test_skill_activation_suggests_nothing_for_an_unrelated_message(
    say: Callable[..., dict[str, Any]], message: str
) -> None:
    assert set(say(message)) <= {"logs"}


def test_skill_activation_suggests_at_most_its_limit(
    samuel_project: SamuelProject, enable: Callable[..., None], put: Callable[..., None]
) -> None:
    put({f".system/registry/low-level/{n}.yaml": _equal(f"report.{n}") for n in range(5)})
    enable("skill_activation_prompt", "limit: 2")
    hook_result = samuel_project.fire("UserPromptSubmit", user_message="print the sales report").result
    assert [suggestion["id"] for suggestion in hook_result["suggested_abilities"]] == ["report.0", "report.1"]


def test_skill_activation_works_with_a_broken_registry_file(
    samuel_project: SamuelProject, say: Callable[..., dict[str, Any]], put: Callable[..., None]
) -> None:
    put({".system/registry/low-level/broken.yaml": "operation_key: [\n"})
    assert "suggested_abilities" in say("run the billing regression tests")


def _equal(key: str) -> str:
    how = "implementation: {kind: script, script: {path: run.sh}}\n"
    return f"operation_key: {key}\nsummary: Prints the sales report.\n{how}"


@pytest.mark.slow
def test_an_ability_that_would_refuse_to_run_is_not_suggested(
    say: Callable[..., dict[str, Any]], put: Callable[..., None]
) -> None:
    hook_result = say("I need to run the full billing regression tests", environment="")
    assert "suggested_abilities" not in hook_result
    (message,) = hook_result["messages_to_user"]
    assert message.startswith(
        "What fits cannot run here: `billing_regression` is for `dev`, `staging`, and no environ"
    )
    file = ".system/registry/low-level/mail.yaml"
    put({file: "operation_key: mail.send\nsummary: Sends an e-mail to a customer.\n"})
    (message,) = say("send an e-mail to the customer")["messages_to_user"]
    assert message.startswith("What fits cannot run here: `mail.send` has no implementation; ")
