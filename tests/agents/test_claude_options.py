"""The options of Claude Code that depend on its version and on what is left of the budget."""

from __future__ import annotations

import pytest

from samuel.clients.adapter.agent import ProcessFacts
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.claude.adapter import AGENT, ClaudeStream
from samuel.config.model import Budgets
from samuel.history.budgets import AddedBudget, BudgetMeter

FORWARD = "--forward-subagent-text"


@pytest.mark.parametrize(
    ("version", "budget", "options"),
    [
        ("2.1.326", None, (FORWARD,)),
        ("2.1.326", 1.5, (FORWARD, "--max-budget-usd", "1.5000")),
        ("2.1.326", 0.0, (FORWARD, "--max-budget-usd", "0.0001")),
        ("2.1.216", 1.5, (FORWARD,)),  # its limit does not stop background subagents
        ("2.1.210", 1.5, ()),
        ("", 1.5, ()),
        ("unknown", 1.5, ()),
    ],
)
def test_an_option_is_used_from_the_version_that_has_it(version, budget, options):
    assert AGENT.options is not None
    assert AGENT.options(ProcessFacts(version, budget)) == options


def test_the_budget_that_is_left_is_the_narrowest_one():
    meter = BudgetMeter(Budgets(max_cost_usd=5.0, max_task_cost_usd=2.0, max_day_cost_usd=9.0))
    meter.begin(run={"cost_usd": 4.0}, task={"cost_usd": 0.5}, day={"cost_usd": 4.0})
    assert meter.remaining_usd() == 1.0
    meter.begin(run={"cost_usd": 4.0}, task={}, day={"cost_usd": 4.0}, added=AddedBudget(cost_usd=3.0))
    assert meter.remaining_usd() == 2.0
    meter.begin(run={"cost_usd": 6.0}, task={}, day={})
    assert meter.remaining_usd() == 0.0
    assert BudgetMeter(Budgets(max_tokens=100)).remaining_usd() is None


def test_claude_that_reached_its_own_limit_is_over_budget():
    stream = ClaudeStream()
    stream.feed(b'{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":1.6}\n')
    assert stream.problem is not None
    assert stream.problem.kind is EndingKind.OVER_BUDGET
    assert stream.usage["cost_usd"] == 1.6


def test_what_a_subagent_says_is_not_what_the_agent_says():
    stream = ClaudeStream()
    stream.feed(b'{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"Mine."}]}}\n')
    stream.feed(
        b'{"type":"assistant","parent_tool_use_id":"t","message":{"id":"2","content":[{"type":"text","text":"Its."}]}}\n'
    )
    assert stream.words == "Mine."
