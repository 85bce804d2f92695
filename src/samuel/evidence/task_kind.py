"""What kind of work a task is."""

from __future__ import annotations

from samuel.tasks.task import Task


def task_kind(task: Task) -> str:
    """The kind of a task; "" if neither its author nor its title says it."""
    return task.kind
