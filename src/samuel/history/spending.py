"""What the agents of a run have used so far, against the budgets of samuel.toml."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from samuel.history.attempt_record import AttemptRecord
from samuel.history.budgets import BudgetMeter, add_usage
from samuel.history.history import History
from samuel.history.run import Run
from samuel.tasks.task import Task


class Spending:
    """Tells the meter what was used before each agent starts, and says when a budget is used up."""

    def __init__(self, meter: BudgetMeter, history: History, now: Callable[[], float]) -> None:
        self._meter = meter
        self._history = history
        self._now = now
        self._without_usage: set[str] = set()  # agents that do not report it
        self._day: date | None = None
        self._day_usage: dict[str, Any] = {}  # of all runs of the project

    def begin(self, run: Run, task: Task | None) -> None:
        """An agent is about to work on this task."""
        task_usage = run.task_usage.get(task.id, {}) if task else {}
        self._meter.begin(run=run.usage, task=task_usage, day=self.today(), added=run.added_budget)

    def add(self, attempt: AttemptRecord) -> str:
        """An agent has worked, and its attempt is in the history; a warning, once, if its usage is not known."""
        if self._day == _day(self._now()):  # else the usage of the day is read from the history later
            self._day_usage = add_usage(self._day_usage, attempt.usage)
        if attempt.exit_code is None or attempt.agent in self._without_usage:
            return ""
        if not (keys := self._meter.unenforceable(attempt.usage)):
            return ""
        self._without_usage.add(attempt.agent)
        named = ", ".join(f"`{key}`" for key in keys)
        return f"{named}: not enforced, because the usage of {attempt.agent} is unknown"

    def used_up(self, run: Run) -> str:
        """The budget of the run or of the day that is used up, in words; "" if none is."""
        if run.budget_hit:
            return run.budget_hit
        self.begin(run, None)
        hit = self._meter.hit({}, "run", "day")
        return hit.text if hit else ""

    def today(self) -> dict[str, Any]:
        """What all runs of the project have used today; {} if no budget counts days."""
        today = _day(self._now())
        if today != self._day:
            self._day, self._day_usage = today, {}
            for history in self._history.all() if self._meter.counts_days else ():
                for attempt in history.attempts:
                    if _day(attempt.ended_at) == today:
                        self._day_usage = add_usage(self._day_usage, attempt.usage)
        return self._day_usage


def _day(seconds: float) -> date:
    return date.fromtimestamp(seconds)
