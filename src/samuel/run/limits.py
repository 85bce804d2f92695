"""Why a run ends before its next iteration: a request, the work is done, or a limit."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.events.endings import ExitReason
from samuel.history.no_task import reason_without_task
from samuel.history.run import Run
from samuel.history.spending import Spending
from samuel.tasks.queue import next_task
from samuel.tasks.task import Task, Tasks

MAX_EMPTY_DISCOVERIES = 2  # in a row


class RunLimits:
    def __init__(self, place: Workplace, stop: Stop, spending: Spending, save: Callable[[Run], Run]) -> None:
        """`save` writes the run to disk, with the budget that ended it."""
        self._place = place
        self._stop = stop
        self._spending = spending
        self._save = save

    def reason_to_end(self, run: Run, no_task: ExitReason | None) -> ExitReason | None:
        """Why to end here: a request, the work is done, a limit, or `no_task` that could be worked on."""
        settings = self._place.settings
        if self._stop.requested:
            return ExitReason.INTERRUPTED
        if no_task is ExitReason.QUEUE_EMPTY:
            return no_task
        if run.counted_iterations >= run.max_iterations:
            return ExitReason.MAX_ITERATIONS
        if run.consec_fails >= settings.max_consecutive_failures:
            return ExitReason.CONSECUTIVE_FAILURES
        if self.out_of_time(run):
            return ExitReason.BUDGET
        if hit := self._spending.used_up(run):
            self._save(replace(run, budget_hit=hit))
            return ExitReason.BUDGET
        if run.empty_discoveries >= MAX_EMPTY_DISCOVERIES:
            return ExitReason.DISCOVERY_EXHAUSTED
        return no_task

    def next_task(self, tasks: Tasks) -> tuple[Task | None, ExitReason | None]:
        """The next task, or why there is none. Pilot mode goes on without a task: it looks for more."""
        task = next_task(tasks)
        if task is not None or self._place.settings.pilot.enabled:
            return task, None
        return None, reason_without_task(tasks)

    def out_of_time(self, run: Run) -> bool:
        limit = self._place.settings.max_duration
        return limit is not None and self._place.clock.now() - run.started_at >= limit
