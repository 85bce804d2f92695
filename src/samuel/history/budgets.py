"""What the agents of a run may use: tokens and money, for the run, for a task and for a day.

Usage that an agent does not report is unknown, not zero: it cannot reach a limit, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from samuel.config.model import Budgets

Usage = Mapping[str, Any]
BudgetScope = Literal["run", "task", "day"]


class BudgetHit(NamedTuple):
    """A budget that is used up."""

    scope: BudgetScope
    text: str


class AddedBudget(msgspec.Struct, frozen=True):
    """What `--add-budget` added to the budgets of the run and of the day."""

    tokens: int = 0
    cost_usd: float = 0.0


NOTHING_ADDED = AddedBudget()
UNLIMITED = Budgets()


def tokens(usage: Usage) -> int | None:
    """The tokens of a usage; None if they are unknown."""
    counts = [
        number for name in ("input_tokens", "output_tokens") if (number := _number(usage.get(name))) is not None
    ]
    return int(sum(counts)) if counts else None


def cost(usage: Usage) -> float | None:
    return _number(usage.get("cost_usd"))


def _number(value: object) -> float | None:
    """The value if it is a number: a plugin may be the agent, and report anything."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def add_usage(total: Usage, more: Usage) -> dict[str, Any]:
    """The sum of two usages: numbers are added, of anything else the last value is kept."""
    summed = dict(total)
    for key, value in more.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        summed[key] = summed.get(key, 0) + value if number else value
    return summed


class BudgetMeter:
    """Compares the usage of an agent at work with the budgets. The loop tells what was used before."""

    def __init__(self, budgets: Budgets = UNLIMITED) -> None:
        self._limits: dict[BudgetScope, tuple[int | None, float | None]] = {
            "task": (budgets.max_task_tokens, budgets.max_task_cost_usd),
            "run": (budgets.max_tokens, budgets.max_cost_usd),
            "day": (budgets.max_day_tokens, budgets.max_day_cost_usd),
        }
        self._before: dict[BudgetScope, Usage] = {}
        self._added = NOTHING_ADDED

    @property
    def counts_days(self) -> bool:
        return self._limits["day"] != (None, None)

    def begin(self, *, run: Usage, task: Usage, day: Usage, added: AddedBudget = NOTHING_ADDED) -> None:
        """From now on, an agent works on top of these usages."""
        self._before = {"run": run, "task": task, "day": day}
        self._added = added

    def add(self, usage: Usage) -> None:
        """From now on, another agent works on top of this as well."""
        self._before = {scope: add_usage(before, usage) for scope, before in self._before.items()}

    def hit(self, usage: Usage, *scopes: BudgetScope) -> BudgetHit | None:
        """The first of these budgets (all, if none is named) that is used up together with `usage`."""
        for scope in scopes or self._limits:
            added = NOTHING_ADDED if scope == "task" else self._added
            max_tokens, max_cost = self._limits[scope]
            before = self._before.get(scope, {})
            used = _sum(tokens(before), tokens(usage))
            if max_tokens is not None and used is not None and used >= max_tokens + added.tokens:
                name = _key(scope, "tokens")
                return BudgetHit(scope, f"`{name}`: {used:,} of {max_tokens + added.tokens:,} tokens are used")
            spent = _sum(cost(before), cost(usage))
            if max_cost is not None and spent is not None and spent >= max_cost + added.cost_usd:
                name = _key(scope, "cost_usd")
                return BudgetHit(scope, f"`{name}`: ${spent:.2f} of ${max_cost + added.cost_usd:.2f} are used")
        return None

    def exceeded(self, usage: Usage) -> str:
        """Why an agent that has used this much must end; "" while it may go on."""
        hit = self.hit(usage)
        return hit.text if hit else ""

    def remaining_usd(self) -> float | None:
        """What an agent may cost that starts now, by the narrowest budget; None without one."""
        left = [
            max_cost
            + (0.0 if scope == "task" else self._added.cost_usd)
            - (cost(self._before.get(scope, {})) or 0.0)
            for scope, (_, max_cost) in self._limits.items()
            if max_cost is not None
        ]
        return max(min(left), 0.0) if left else None

    def unenforceable(self, usage: Usage) -> list[str]:
        """The keys of budgets that cannot be enforced with an agent that reports this usage."""
        keys = []
        for scope, (max_tokens, max_cost) in self._limits.items():
            if max_tokens is not None and tokens(usage) is None:
                keys.append(_key(scope, "tokens"))
            if max_cost is not None and cost(usage) is None:
                keys.append(_key(scope, "cost_usd"))
        return keys


def _key(scope: BudgetScope, unit: str) -> str:
    return f"max_{unit}" if scope == "run" else f"max_{scope}_{unit}"


def _sum(*amounts: int | float | None) -> Any:
    """The sum of what is known; None if nothing is."""
    numbers = [amount for amount in amounts if amount is not None]
    return sum(numbers) if numbers else None
