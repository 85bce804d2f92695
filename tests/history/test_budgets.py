"""What agents may use: the meter, the usage of runs, tasks and days, and `--add-budget`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from samuel.base.clock import FakeClock
from samuel.cli.run.start import BudgetType
from samuel.config.model import Budgets
from samuel.history.attempt_record import AttemptRecord, RunRecord
from samuel.history.budgets import AddedBudget, BudgetHit, BudgetMeter, add_usage, cost, tokens
from samuel.history.history import History
from samuel.history.run import Run
from samuel.history.spending import Spending
from samuel.tasks.task import Task

DAY = 24 * 3600.0
NOON = 1_750_075_200.0  # in most time zones this is neither the first nor the last hour of a day


def used(count: int, cost_usd: float | None = None) -> dict[str, Any]:
    money = {} if cost_usd is None else {"cost_usd": cost_usd}
    return {"input_tokens": count, "output_tokens": 0, **money}


class TestUsage:
    def test_usage_that_is_not_reported_is_unknown_and_not_zero(self) -> None:
        assert (tokens({}), cost({})) == (None, None)
        assert (tokens({"output_tokens": 3}), cost({"cost_usd": 0})) == (3, 0.0)

    def test_numbers_are_added_and_of_anything_else_the_last_value_stays(self) -> None:
        total = add_usage({"input_tokens": 1, "model": "a"}, {"input_tokens": 2, "cost_usd": 0.5, "model": "b"})
        assert total == {"input_tokens": 3, "cost_usd": 0.5, "model": "b"}


class TestMeter:
    def test_a_budget_is_used_up_when_it_is_reached_together_with_what_was_used_before(self) -> None:
        meter = BudgetMeter(Budgets(max_tokens=1000))
        meter.begin(run=used(900), task={}, day={})
        assert meter.hit(used(99)) is None
        assert meter.hit(used(100)) == BudgetHit("run", "`max_tokens`: 1,000 of 1,000 tokens are used")
        assert meter.exceeded(used(100)) == "`max_tokens`: 1,000 of 1,000 tokens are used"

    @pytest.mark.parametrize(
        ("budgets", "scope", "text"),
        [
            (Budgets(max_cost_usd=2), "run", "`max_cost_usd`: $2.50 of $2.00 are used"),
            (Budgets(max_task_cost_usd=1), "task", "`max_task_cost_usd`: $1.50 of $1.00 are used"),
            (Budgets(max_day_cost_usd=3), "day", "`max_day_cost_usd`: $3.50 of $3.00 are used"),
            (Budgets(max_task_tokens=20), "task", "`max_task_tokens`: 30 of 20 tokens are used"),
            (Budgets(max_day_tokens=20), "day", "`max_day_tokens`: 50 of 20 tokens are used"),
        ],
    )
    def test_each_budget_counts_what_it_is_for(self, budgets: Budgets, scope: str, text: str) -> None:
        meter = BudgetMeter(budgets)
        meter.begin(run=used(30, 2), task=used(20, 1), day=used(40, 3))
        assert meter.hit(used(10, 0.5)) == (scope, text)

    def test_unknown_usage_reaches_no_budget_and_the_budgets_are_named(self) -> None:
        meter = BudgetMeter(Budgets(max_tokens=1, max_task_tokens=1, max_day_cost_usd=0.01))
        meter.begin(run={}, task={}, day={})
        assert meter.hit({}) is None
        assert meter.unenforceable({}) == ["max_task_tokens", "max_tokens", "max_day_cost_usd"]
        assert meter.unenforceable(used(0)) == ["max_day_cost_usd"]

    def test_an_added_budget_is_for_the_run_and_the_day_but_not_for_a_task(self) -> None:
        meter = BudgetMeter(Budgets(max_tokens=10, max_day_tokens=10, max_task_tokens=100))
        added = AddedBudget(tokens=1000)
        meter.begin(run=used(50), task=used(50), day=used(50), added=added)
        assert meter.hit({}) is None
        assert meter.hit(used(50)) == BudgetHit("task", "`max_task_tokens`: 100 of 100 tokens are used")


class TestSpending:
    """The usage of a day is that of all runs of the project on it, from their history."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock(NOON)

    @pytest.fixture
    def history(self, tmp_path: Path) -> History:
        return History(tmp_path / "history")

    @pytest.fixture
    def spending(self, history: History, clock: FakeClock) -> Spending:
        meter = BudgetMeter(Budgets(max_tokens=500, max_day_tokens=1000, max_task_tokens=200))
        return Spending(meter, history, clock.now)

    def test_an_earlier_run_of_the_day_counts_and_that_of_yesterday_does_not(
        self, history: History, spending: Spending
    ) -> None:
        record(history, "run-1", 600, NOON - DAY)
        record(history, "run-2", 600, NOON - 60)
        assert spending.used_up(run("run-3")) == ""
        record(history, "run-4", 400, NOON - 30)
        again = Spending(BudgetMeter(Budgets(max_day_tokens=1000)), history, lambda: NOON)
        assert again.used_up(run("run-5")) == "`max_day_tokens`: 1,000 of 1,000 tokens are used"

    def test_an_attempt_is_counted_once_also_by_a_run_that_begins_by_recording_it(
        self, history: History, spending: Spending
    ) -> None:
        spending.add(record(history, "run-1", 600, NOON))
        assert spending.used_up(run("run-1")) == ""
        spending.add(record(history, "run-1", 399, NOON, iteration=2))
        assert spending.used_up(run("run-1")) == ""
        spending.add(record(history, "run-1", 1, NOON, iteration=3))
        assert spending.used_up(run("run-1")) == "`max_day_tokens`: 1,000 of 1,000 tokens are used"

    def test_a_new_day_begins_with_nothing(self, history: History, clock: FakeClock, spending: Spending) -> None:
        spending.used_up(run("run-1"))
        spending.add(record(history, "run-1", 1000, NOON))
        assert spending.used_up(run("run-1"))
        clock.sleep(DAY)
        assert spending.used_up(run("run-1")) == ""

    def test_the_run_counts_its_own_usage_and_what_was_added_to_it(self, spending: Spending) -> None:
        assert spending.used_up(run("run-1", usage=used(500))) == "`max_tokens`: 500 of 500 tokens are used"
        more = run("run-1", usage=used(500), added_budget=AddedBudget(tokens=1))
        assert spending.used_up(more) == ""

    def test_an_agent_begins_with_what_its_task_has_used_so_far(self, history: History) -> None:
        meter = BudgetMeter(Budgets(max_task_tokens=200))
        spending = Spending(meter, history, lambda: NOON)
        spending.begin(run("run-1", task_usage={"1": used(150)}), Task(id="1", title="One"))
        assert meter.exceeded(used(50))
        spending.begin(run("run-1", task_usage={"1": used(150)}), Task(id="2", title="Two"))
        assert not meter.exceeded(used(50))


class TestAddBudget:
    @pytest.mark.parametrize(
        ("text", "amount"),
        [
            ("20000tokens", AddedBudget(tokens=20000)),
            ("20,000 tokens", AddedBudget(tokens=20000)),
            ("1_000Token", AddedBudget(tokens=1000)),
            ("5usd", AddedBudget(cost_usd=5)),
            ("2.5 USD", AddedBudget(cost_usd=2.5)),
            ("3$", AddedBudget(cost_usd=3)),
        ],
    )
    def test_an_amount_is_tokens_or_money(self, text: str, amount: AddedBudget) -> None:
        assert BudgetType().convert(text, None, None) == amount

    @pytest.mark.parametrize("text", ["", "5", "tokens", "0usd", "-5usd", "5eur", "1e5tokens", "9" * 400 + "usd"])
    def test_anything_else_is_refused_with_an_example(self, text: str) -> None:
        with pytest.raises(click.BadParameter, match="use for example `20000tokens` or `5usd`"):
            BudgetType().convert(text, None, None)


def run(run_id: str, **fields: Any) -> Run:
    return Run(run_id=run_id, methodology="ralph", agent="mine", started_at=NOON, max_iterations=9, **fields)


def record(history: History, run_id: str, count: int, ended_at: float, iteration: int = 1) -> AttemptRecord:
    """Record an attempt that used so many tokens."""
    if run_id not in history.ids():
        history.begin(RunRecord(run_id=run_id, methodology="ralph", agents=("mine",), started_at=ended_at))
    attempt = AttemptRecord(run_id=run_id, iteration=iteration, ended_at=ended_at, usage=used(count))
    history.add(attempt)
    return attempt
