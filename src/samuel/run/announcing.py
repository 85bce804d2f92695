"""Firing after:iteration for an iteration that is settled: its handlers cannot change the result."""

from __future__ import annotations

from msgspec.structs import replace

from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.questions import asked_question
from samuel.attempt.steps import Steps
from samuel.attempt.workplace import Workplace
from samuel.dispatch.record import Fired
from samuel.events import AfterIteration
from samuel.history.notices import IterationSettled
from samuel.history.run import Announcement, Run
from samuel.tasks.task import Tasks


def announce(place: Workplace, steps: Steps, tasks: Tasks, run: Run, announcement: Announcement) -> Fired:
    """Fire after:iteration, and report what came of the iteration."""
    settlement = announcement.settlement
    task = next((task for task in tasks if task.id == settlement.task_id), None)
    run = replace(run, iteration=announcement.iteration, mode=announcement.mode)
    event = AfterIteration(
        task=task.plain() if task else {},
        outcome=settlement.outcome,
        usage=settlement.usage,
        question=asked_question(settlement.question),
        lane=announcement.lane,
    )
    steps.state = state_of_settled(place, run, task, settlement)
    fired = steps.notify(run, event)
    place.watch(
        IterationSettled(
            run.mode,
            settlement.outcome,
            settlement.new_tasks,
            run.usage,
            tuple(task.status for task in tasks),
            task.verified if task else "",
            settlement.record.still_red if settlement.record else (),
        )
    )
    return fired
