"""The limits that all lanes share: one wait for an agent that cannot work, and one budget with reservations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from samuel.config.model import Budgets
from samuel.loop.availability import AgentWait
from samuel.loop.budgets import AddedBudget, cost, tokens

AVERAGED = 10  # attempts


def merged_wait(current: AgentWait | None, reported: AgentWait, *, probe: bool) -> AgentWait:
    """The wait of an agent after one more attempt met its limit.

    Attempts that were under way when the trouble began say nothing new: only a probe makes the next wait longer.
    """
    if current is None or probe:
        return reported
    return replace(current, until=max(current.until, reported.until))


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

    def spent_with(self, used: Mapping[str, Any], under_way: int, added: AddedBudget) -> bool:
        """Whether what was used, and what is reserved for the attempts under way, reaches the run's budget."""
        limits = self._budgets
        used_tokens, used_cost = tokens(used), cost(used)
        if limits.max_tokens is not None and used_tokens is not None:
            reserved = under_way * _mean([tokens(usage) for usage in self._last])
            if used_tokens + reserved >= limits.max_tokens + added.tokens:
                return True
        if limits.max_cost_usd is not None and used_cost is not None:
            reserved = under_way * _mean([cost(usage) for usage in self._last])
            if used_cost + reserved >= limits.max_cost_usd + added.cost_usd:
                return True
        return False


def _mean(amounts: Sequence[float | None]) -> float:
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) / len(numbers) if numbers else 0.0
