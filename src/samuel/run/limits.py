"""Why a run ends before its next iteration: a request, the work is done, or a limit."""

from __future__ import annotations

from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.events.endings import ExitReason
from samuel.history.run import Run
from samuel.history.run_state import RunState
from samuel.history.spending import Spending

MAX_EMPTY_DISCOVERIES = 2  # in a row


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
