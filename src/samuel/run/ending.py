"""How a run ends, on every way out: after:loop, the report, and only then the run is over."""

from __future__ import annotations

import dataclasses
from contextlib import suppress

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.steps import NO_TASK, Steps
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.checks.memory import CheckMemory
from samuel.events import AfterLoop
from samuel.events.endings import ExitReason
from samuel.history.notices import RunEnded
from samuel.history.own_branch import leave_if_empty
from samuel.history.run import Run, own_branch_of
from samuel.history.run_state import RunState
from samuel.run.run_history import RunHistoryWriter
from samuel.tasks.task import Task


def end_run(
    place: Workplace,
    steps: Steps,
    state: RunState,
    history: RunHistoryWriter,
    checks: CheckMemory,
    reason: ExitReason,
) -> Run:
    """Fire after:loop and report. A run that is killed before it is over resumes here."""
    run = state.run
    steps.state = NO_TASK
    fired = steps.notify(run, AfterLoop(iterations_run=run.iterations_run, exit_reason=reason, usage=run.usage))
    if fired.stopped:
        run = run.complain("after:loop", fired.reason)
    run = replace(_left_empty_branch(place, run), exit_reason=reason)
    report = history.end(run, checks)  # a run killed in here writes it once more
    run = state.begin(run)
    tasks = _tasks_or_none(place)
    counts = dict.fromkeys(("completed", "pending", "blocked", "skipped"), 0)
    for task in tasks:
        counts[task.status] = counts.get(task.status, 0) + 1
    message = run.exit_message or run.budget_hit
    lost = history.lost_tests(run.run_id)
    ended = RunEnded(reason, run.iterations_run, counts, run.usage, tasks, message, report, lost_tests=lost)
    if branch := own_branch_of(run):
        ended = dataclasses.replace(ended, branch=branch.name, from_branch=branch.from_branch)
    place.watch(ended)
    return run


def _left_empty_branch(place: Workplace, run: Run) -> Run:
    """The run without its branch, if no work came to it: an empty branch is of no use."""
    with suppress(SamuelError):  # the repository is gone or broken, which was said already
        if run.own_branch and leave_if_empty(place.git, run.own_branch):
            return replace(run, own_branch=UNSET)
    return run


def _tasks_or_none(place: Workplace) -> tuple[Task, ...]:
    """All tasks; none if the task file cannot be read."""
    with suppress(SamuelError):
        return place.tasks.load()
    return ()
