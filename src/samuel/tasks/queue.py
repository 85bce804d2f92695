"""Which task is next: pure functions over the tasks."""

from __future__ import annotations

from samuel.tasks.task import PRIORITIES, Task, Tasks, natural

OPEN = ("pending", "in_progress")
MET = ("completed", "skipped")  # a dependency with one of these statuses is met

_RANK = {priority: rank for rank, priority in enumerate(PRIORITIES)}


def next_task(tasks: Tasks) -> Task | None:
    """The task to work on: dependencies met, then the most urgent, then the smallest id.

    A task in progress comes first: the iteration that began it was interrupted.
    """
    met = {task.id for task in tasks if task.status in MET}
    ready = (task for task in tasks if task.status in OPEN and met.issuperset(task.depends_on))
    return min(ready, key=_urgency, default=None)


def remaining(tasks: Tasks) -> tuple[Task, ...]:
    """What there still is to work on. A blocked task waits for a person, so it is not among them."""
    return tuple(task for task in tasks if task.status in OPEN)


def stuck(tasks: Tasks) -> str:
    """Why nothing can be picked though not everything is done; "" while something can, or nothing is left."""
    if next_task(tasks):
        return ""
    by_id = {task.id: task for task in tasks}
    reasons = [
        f"`{task.id}` is blocked: {task.last_failure or 'no reason was given'}"
        for task in sorted(tasks, key=lambda task: natural(task.id))
        if task.status == "blocked"
    ]
    for task in remaining(tasks):
        waits = [f"`{id}` ({by_id[id].status})" for id in task.depends_on if by_id[id].status not in MET]
        reasons.append(f"`{task.id}` waits for {', '.join(waits)}")
    return "; ".join(reasons)


def _urgency(task: Task) -> tuple[object, ...]:
    return task.status != "in_progress", _RANK[task.priority], natural(task.id)
