"""The limits that all attempts under way share: one wait for an agent, and one budget with reservations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from samuel.config.model import Budgets
from samuel.history.availability import AgentWait
from samuel.history.budgets import AddedBudget, cost, tokens

AVERAGED = 10  # attempts


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
