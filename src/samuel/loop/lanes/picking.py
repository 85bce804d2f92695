"""Which task a free lane gets: a pure function over the tasks and those under way."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from samuel.loop.path_set import PathSet
from samuel.tasks.queue import MET, by_urgency
from samuel.tasks.task import Task, Tasks


def pick(tasks: Tasks, active: Collection[str]) -> Task | None:
    """The most urgent task whose dependencies have landed and whose files no task under way declares.

    If nothing else is left, files may overlap: a task never waits for ever. A task without declared files may
    run beside any other.
    """
    met = {task.id for task in tasks if task.status in MET}
    ready = [
        task
        for task in by_urgency(tasks)
        if task.status == "pending" and task.id not in active and met.issuperset(task.depends_on)
    ]
    taken = PathSet(path for task in tasks if task.id in active for path in _files(task))
    apart = (task for task in ready if not any(taken.touches(path) for path in _files(task)))
    return next(apart, ready[0] if ready else None)


def _files(task: Task) -> Iterable[str]:
    return (*task.files_to_create, *task.files_to_modify)
