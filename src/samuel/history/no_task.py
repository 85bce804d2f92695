"""Why there is no task to work on."""

from __future__ import annotations

from samuel.events.endings import ExitReason
from samuel.tasks.queue import MET
from samuel.tasks.task import Tasks

WITHOUT_TASK = {
    ExitReason.QUEUE_EMPTY: "no task is left to do",
    ExitReason.WAITING: "the tasks that are left wait for answers",
    ExitReason.TASKS_BLOCKED: "the tasks that are left are blocked",
}
"""Why there is no task to work on, in words."""


def reason_without_task(tasks: Tasks) -> ExitReason:
    """Why a run ends when no task can be worked on."""
    if all(task.status in MET for task in tasks):
        return ExitReason.QUEUE_EMPTY
    waiting = any(task.status == "waiting" for task in tasks)
    return ExitReason.WAITING if waiting else ExitReason.TASKS_BLOCKED
