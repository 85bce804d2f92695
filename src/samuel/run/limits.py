"""Why a run ends or begins no attempt: a request, the work is done, a limit, or one that attempts share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.config.model import Budgets
from samuel.events.endings import ExitReason
from samuel.history.availability import AgentWait
from samuel.history.budgets import AddedBudget, cost, tokens
from samuel.history.run import Run
from samuel.history.run_state import RunState
from samuel.history.spending import Spending

MAX_EMPTY_DISCOVERIES = 2  # in a row
AVERAGED = 10  # attempts


class RunLimits:
    def __init__(self, place: Workplace, stop: Stop, spending: Spending, state: RunState) -> None:
        self._place = place
        self._stop = stop
        self._spending = spending
        self._state = state

    def reason_to_end(self, no_task: ExitReason | None) -> ExitReason | None:
        """Why to end here: a request, the work is done, a limit, or `no_task` that could be worked on."""
        settings, run = self._place.settings, self._state.run
        if self._stop.requested:
            return ExitReason.INTERRUPTED
        if no_task is ExitReason.QUEUE_EMPTY:
            return no_task
        if run.counted_iterations >= run.max_iterations:
            return ExitReason.MAX_ITERATIONS
        if run.consec_fails >= settings.max_consecutive_failures:
            return ExitReason.CONSECUTIVE_FAILURES
        if self._out_of_time(run):
            return ExitReason.BUDGET
        if hit := self._spending.used_up(run):
            self._state.set(budget_hit=hit)
            return ExitReason.BUDGET
        if run.empty_discoveries >= MAX_EMPTY_DISCOVERIES:
            return ExitReason.DISCOVERY_EXHAUSTED
        return no_task

    def _out_of_time(self, run: Run) -> bool:
        limit = self._place.settings.max_duration
        return limit is not None and self._place.clock.now() - run.started_at >= limit


def may_start(agent: str, waits: Mapping[str, AgentWait], at_work: Collection[str]) -> bool:
    """Whether one more attempt of this agent may start: after a wait one goes first, alone."""
    return agent not in waits or agent not in at_work


class Reservations:
    """What attempts under way are expected to use: as much as the last ones did on average."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._last: list[Mapping[str, Any]] = []

    def settle(self, usage: Mapping[str, Any]) -> None:
        if usage:
            self._last = [*self._last, usage][-AVERAGED:]

    def spent_with(
        self, run: Mapping[str, Any], day: Mapping[str, Any], under_way: int, added: AddedBudget
    ) -> bool:
        """Whether what was used, and what is reserved for the attempts under way, reaches a budget.

        That is the budget of the run or that of the day, each with what `--add-budget` added.
        """
        budgets = self._budgets
        reserved_tokens = under_way * _mean([tokens(usage) for usage in self._last])
        reserved_cost = under_way * _mean([cost(usage) for usage in self._last])
        limits = (
            (budgets.max_tokens, tokens(run), reserved_tokens, added.tokens),
            (budgets.max_cost_usd, cost(run), reserved_cost, added.cost_usd),
            (budgets.max_day_tokens, tokens(day), reserved_tokens, added.tokens),
            (budgets.max_day_cost_usd, cost(day), reserved_cost, added.cost_usd),
        )
        return any(
            limit is not None and used is not None and used + reserved >= limit + more
            for limit, used, reserved, more in limits
        )


def _mean(amounts: Sequence[float | None]) -> float:
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) / len(numbers) if numbers else 0.0
