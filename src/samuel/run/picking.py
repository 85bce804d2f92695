"""Which task a free lane gets: a pure function over the tasks and those under way."""

from __future__ import annotations

from collections.abc import Iterable

from samuel.history.path_set import PathSet
from samuel.history.run import LanesState
from samuel.tasks.queue import MET, by_urgency
from samuel.tasks.task import Task, Tasks

LONE_AFTER = 2
"""Conflicts after which a task is worked on alone: nothing else lands between its beginning and its landing."""


def works_alone(task_id: str, lanes: LanesState) -> bool:
    """Whether the next attempt at this task is one during which nothing else lands."""
    return lanes.conflicts.get(task_id, 0) >= LONE_AFTER


def pick(tasks: Tasks, lanes: LanesState, *, landing: bool) -> Task | None:
    """The most urgent task whose dependencies have landed and whose files no task under way declares.

    If nothing else is left, files may overlap: a task never waits for ever. A task without declared files may
    run beside any other. `landing`: something is being merged, so the tip may be about to move.
    """
    active = lanes.active
    met = {task.id for task in tasks if task.status in MET}
    ready = [
        task
        for task in by_urgency(tasks)
        if task.status == "pending"
        and task.id not in active
        and met.issuperset(task.depends_on)
        and not _would_conflict(task.id, lanes, landing)
    ]
    taken = PathSet(path for task in tasks if task.id in active for path in _files(task))
    apart = (task for task in ready if not any(taken.touches(path) for path in _files(task)))
    return next(apart, ready[0] if ready else None)


def _would_conflict(task_id: str, lanes: LanesState, landing: bool) -> bool:
    """Whether an attempt at this task, begun now, would meet what lands meanwhile, as an earlier one did."""
    if any(record.exclusive for record in lanes.active.values()):
        return task_id in lanes.conflicts
    return landing and works_alone(task_id, lanes)


def _files(task: Task) -> Iterable[str]:
    return (*task.files_to_create, *task.files_to_modify)
