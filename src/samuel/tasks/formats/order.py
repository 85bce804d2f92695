"""The order of tasks: a rank for each, where their ids and priorities do not give the order of the source."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from samuel.tasks.formats.base import ImportedTasks
from samuel.tasks.task import Task, natural


def ranked(imported: ImportedTasks) -> ImportedTasks:
    """The tasks with the order of the source kept among those of the same priority."""
    return imported._replace(tasks=in_order(imported.tasks))


def in_order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    by_priority: dict[str, list[str]] = {}
    for task in tasks:
        by_priority.setdefault(task.priority, []).append(task.id)
    if all(ids == sorted(ids, key=natural) for ids in by_priority.values()):
        return tuple(tasks)
    return tuple(replace(task, rank=rank) for rank, task in enumerate(tasks, start=1))
