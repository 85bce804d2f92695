"""The three flows of the contract, end to end: first the script as it is, then what it left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROMPT = "Run the full billing regression tests for me."
QUESTION = "Before I commit, what checks should I run?"
CHANGED = ("services/billing/invoice.py", "services/auth/login.py")


@pytest.fixture
def billing(flow: Callable[[str], Any]) -> Any:
    return flow("billing_regression")


@pytest.fixture
def knowledge(flow: Callable[[str], Any]) -> Any:
    return flow("pre_commit_knowledge")


@pytest.fixture
def building(flow: Callable[[str], Any]) -> Any:
    return flow("failing_build")


@pytest.mark.slow
def test_a_prompt_leads_to_a_regression_run_that_is_recorded_and_counted(billing: Any) -> None:
    ran = billing.run()
    assert ran.code == 0, ran.err
    assert "You can use the workflow ability `billing_regression`" in ran.err
    assert '"passed": 5' in ran.out

    usage = json.loads(billing.read(".system/cache/ability_usage.json"))
    assert {id: row["count"] for id, row in usage.items()} == {"billing_regression": 1, "billing.suite.run": 2}
    log = billing.read(".system/logs/tool_call.md")
    assert [line.split(" ", 2)[2] for line in log.splitlines() if line.startswith("## ")] == [
        "billing.suite.run: success",
        "billing.suite.run: success",
        "billing_regression: success",
    ]
    hooks = [json.loads(line) for line in billing.read(".system/logs/hooks.log").splitlines()]
    assert {(row["hook"], row["event"], row["status"]) for row in hooks} == {
        ("skill_activation_prompt", "UserPromptSubmit", "ok"),
        ("post_tool_use_tracker", "PostAbilityCall", "ok"),
    }
    records = list((billing.root / ".system/implement").glob("*/tool_call.md"))
    assert len(records) == 3


@pytest.mark.slow
def test_the_suggestion_is_a_hint_that_routing_confirms(billing: Any) -> None:
    billing.samuel("trust", "--yes")
    billing.samuel("session", "start", "--id", "s")
    hook_result = billing.samuel("session", "prompt", "--id", "s", PROMPT, "--json").json["data"]["result"]
    (suggestion,) = hook_result["suggested_abilities"]
    assert suggestion["id"] == "billing_regression"
    assert suggestion["confidence"] > 0.6
    routed = billing.samuel("ability", "route", "--session", "s", PROMPT, "--json").json["data"]
    assert routed["candidates"][0]["id"] == "billing_regression"
    assert any("suggested by a hook" in reason for reason in routed["candidates"][0]["reasons"])


@pytest.mark.slow
def test_a_suggestion_of_something_that_is_not_there_is_reported_and_never_offered(billing: Any) -> None:
    billing.samuel("trust", "--yes")
    billing.samuel("session", "start", "--id", "s")
    billing.samuel("session", "prompt", "--id", "s", PROMPT)
    file = billing.root / ".system/registry/high-level/billing_regression.yaml"
    file.rename(file.with_suffix(".away"))
    ran = billing.samuel("ability", "route", "--session", "s", PROMPT, "--json")
    assert "billing_regression" not in [row["id"] for row in ran.json["data"]["candidates"]]
    assert "`billing_regression`, which is not in the registry" in " ".join(ran.json["warnings"])


@pytest.mark.slow
def test_a_question_leads_to_the_documents_for_it(knowledge: Any) -> None:
    ran = knowledge.run()
    assert ran.code == 0, ran.err
    assert "intent `learn_which_checks_to_run_before_commit`" in ran.out
    assert "docs/pre_commit_policy.md" in ran.out
    assert "docs/deploy.md" not in ran.out


@pytest.mark.slow
def test_the_intent_of_the_hook_is_the_one_of_the_contract(knowledge: Any) -> None:
    knowledge.samuel("trust", "--yes")
    context = {"session_id": "s", "user_message": QUESTION, "cli_command": "make dev_check"}
    emitted = knowledge.samuel("emit", "UserPromptSubmit", stdin=json.dumps(context))
    assert emitted.json["new_intent"] == {
        "scope": "execution.quality_gates",
        "topic": "pre_commit_checks",
        "stage": "understand",
        "intent": "learn_which_checks_to_run_before_commit",
        "signals": {"user_raw_input": QUESTION, "cli_command": "make dev_check"},
    }
    by_session = knowledge.samuel("knowledge", "route", "--session", "s", "--json").json["data"]
    by_intent = knowledge.samuel("knowledge", "route", "--intent", "-", "--json", stdin=emitted.out).json["data"]
    assert by_session == by_intent
    assert [row["path"] for row in by_intent["documents"]] == [
        "docs/pre_commit_policy.md",
        "docs/pre_commit_commands.md",
    ]


@pytest.mark.slow
def test_a_session_that_stops_with_a_failing_build_proposes_the_failing_line(building: Any) -> None:
    ran = building.run()
    assert ran.code == 0, ran.err
    assert "`python3 -m unittest discover -q -s services/billing`: success." in ran.err
    assert "failed with exit code 1 at services/auth/login.py:9: TypeError: " in ran.err
    assert "follow-up 1, open_file `services/auth/login.py`: listed" in ran.out


@pytest.mark.slow
def test_the_build_check_is_for_dev_alone_and_for_services_alone(building: Any) -> None:
    building.samuel("trust", "--yes")
    building.samuel("session", "start", "--id", "s")

    def stopped(*changed: str, environment: str = "dev") -> dict[str, Any]:
        options = [word for path in changed for word in ("--changed", path)]
        ran = building.samuel("session", "stop", "--id", "s", "--env", environment, "--json", *options)
        return dict(ran.json["data"])

    assert stopped(*CHANGED)["follow_ups"][0]["payload"] == {"path": "services/auth/login.py", "line": 9}
    assert stopped(*CHANGED, environment="prod")["result"] == {}
    assert stopped("docs/readme.md")["result"] == {}


@pytest.mark.parametrize("name", ["billing_regression", "pre_commit_knowledge", "failing_build"])
def test_nothing_of_a_flow_runs_before_its_owner_agreed(flow: Callable[[str], Any], name: str) -> None:
    copy = flow(name)
    copy.samuel("session", "start", "--id", "s")
    prompted = copy.samuel("session", "prompt", "--id", "s", QUESTION, "--json").json["data"]["result"]
    stopped = copy.samuel("session", "stop", "--id", "s", "--changed", CHANGED[1], "--json").json["data"]["result"]
    assert (prompted, stopped) == ({}, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["billing_regression", "pre_commit_knowledge", "failing_build"])
def test_a_run_leaves_only_what_git_ignores(
    flow: Callable[[str], Any], name: str, git: Callable[..., str], tmp_path: Path
) -> None:
    copy = flow(name)
    git(copy.root, "init", "--quiet")
    git(copy.root, "add", "--all")
    assert copy.run().code == 0
    assert git(copy.root, "status", "--porcelain", "--untracked-files=all", "--", ".").count("??") == 0
