"""Which task is next: a pure function over the tasks and those under way."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET

from samuel.history.path_set import PathSet
from samuel.history.run import Run
from samuel.tasks.queue import MET, OPEN, by_urgency
from samuel.tasks.task import Task, Tasks


def pick(tasks: Tasks, run: Run, *, landing: bool = False) -> Task | None:
    """The most urgent task whose dependencies have landed and whose files no task under way declares.

    If nothing else is left, files may overlap: a task never waits for ever. A task without declared files may
    run beside any other. `landing`: something is being merged, so the tip may be about to move.
    """
    active = run.active
    met = {task.id for task in tasks if task.status in MET}
    ready = [
        task
        for task in by_urgency(tasks)
        if task.status in OPEN
        and task.id not in active
        and met.issuperset(task.depends_on)
        and not _would_conflict(task.id, run, landing)
    ]
    taken = PathSet(path for task in tasks if task.id in active for path in _files(task))
    ready.sort(key=lambda task: not task.takes_last_attempt)  # no agent has to work for what a person accepted
    apart = (task for task in ready if not any(taken.touches(path) for path in _files(task)))
    return next(apart, ready[0] if ready else None)


def _would_conflict(task_id: str, run: Run, landing: bool) -> bool:
    """Whether an attempt at this task, begun now, would meet what lands meanwhile, as an earlier one did."""
    if run.lanes is UNSET:
        return False
    if any(record.exclusive for record in run.active.values()):
        return task_id in run.lanes.conflicts
    return landing and run.lanes.works_alone(task_id)


def _files(task: Task) -> Iterable[str]:
    return (*task.files_to_create, *task.files_to_modify)
