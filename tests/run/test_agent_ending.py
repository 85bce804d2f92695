"""The built-in handler of agent.invoke: what it reports while the agent works, and how the agent ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from samuel.attempt.stop import Stop
from samuel.history.notices import AgentActivity

from .conftest import LoopProject

LIMIT = {
    "type": "rate_limit_event",
    "rate_limit_info": {"status": "rejected", "resetsAt": 1771390800000, "rateLimitType": "five_hour"},
}
MESSAGE = {
    "type": "assistant",
    "message": {
        "id": "m1",
        "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "pytest -q"}}],
        "usage": {"input_tokens": 100, "output_tokens": 1},
    },
}
AS_CLAUDE = '[agents.typed]\ncommand = ["./agent.sh", "{prompt_file}"]\nstream = "claude"\n'


def fire(loop: LoopProject, agent: str, *records: dict[str, Any], then: str = "exit 1\n") -> Any:
    loop.agent("".join(f"echo '{json.dumps(record)}'\n" for record in records) + then)
    with loop.open() as app:
        return app.fire("agent.invoke", agent=agent, prompt="go").result


def test_result_of_agent_invoke_has_the_ending(loop: LoopProject) -> None:
    loop.configure(more=AS_CLAUDE)
    ending = {"kind": "limited", "reason": "usage limit reached (five hour)", "resets_at": 1771390800.0}
    assert fire(loop, "typed", LIMIT)["ending"] == ending


def test_same_records_of_an_agent_without_a_stream_are_words(loop: LoopProject) -> None:
    loop.configure(more=AS_CLAUDE)
    assert fire(loop, "mine", LIMIT)["ending"]["kind"] == "crashed"


def test_ending_of_an_agent_that_did_its_work_is_ok(loop: LoopProject) -> None:
    assert fire(loop, "mine", then="exit 0\n")["ending"] == {"kind": "ok", "reason": "", "resets_at": None}


def test_activity_is_reported_with_the_usage_so_far(loop: LoopProject) -> None:
    loop.configure(more=AS_CLAUDE)
    fire(loop, "typed", MESSAGE, then="exit 0\n")
    reports = [report for report in loop.reports if isinstance(report, AgentActivity)]
    assert reports == [AgentActivity("runs pytest -q", {"input_tokens": 100, "output_tokens": 1})]


def test_idle_timeout_of_the_methodology_ends_an_agent_and_says_so(loop: LoopProject) -> None:
    loop.configure(settings='idle_timeout = "1s"')
    result = fire(loop, "mine", then="exec sleep 600\n")
    assert (result["exit_code"], result["ending"]["kind"]) == (124, "idle")
    assert result["stderr"] == "no sign of work for 1s (idle_timeout)"


def test_budget_ends_an_agent_in_the_middle_of_its_work(loop: LoopProject) -> None:
    loop.configure(settings="max_tokens = 50", more=AS_CLAUDE)
    loop.tasks("1")
    loop.agent(f"echo '{json.dumps(MESSAGE)}'\nexec sleep 600\n")
    with loop.open() as app:
        result = app.fire("agent.invoke", agent="typed", prompt="go").result
    assert result["ending"]["kind"] == "over_budget"
    assert result["stderr"] == result["ending"]["reason"] == "`max_tokens`: 101 of 50 tokens are used"
    assert result["usage"] == {"input_tokens": 100, "output_tokens": 1}


@pytest.mark.parametrize("kind", ["host", "bwrap"])
def test_prompt_names_the_launcher_by_its_absolute_path(loop: LoopProject, kind: str) -> None:
    loop.configure(settings=f'sandbox = "{kind}"')
    loop.tasks("1")
    with loop.open() as app:
        prompt = app.loop(Stop(), dry_run=True).dry_run("mine")["prompt"]
    assert f"`{loop.root.resolve()}/.samuel/run/bin/samuel run done 1`" in prompt
