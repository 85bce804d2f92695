from __future__ import annotations

from collections.abc import Iterable

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.cli.run import state_directory, task_store
from samuel.tasks.task import STATUSES, Task

COLUMNS = ("id", "status", "priority", "complexity", "depends on", "title", "why")


@click.command()
@click.option("--status", type=click.Choice(STATUSES), help="Only tasks with this status.")
@json_option
@click.pass_obj
def tasks(here: CommandContext, status: str | None) -> int:
    """List the tasks.

    \b
        samuel run tasks --status blocked
    """
    matching = [task for task in task_store(state_directory(here)).load() if status in (None, task.status)]
    return here.out.answer([task.plain() for task in matching], table(matching) if matching else "no tasks")


def table(tasks: Iterable[Task]) -> OutputTable:
    tasks = list(tasks)
    dispensable = ["priority", "complexity"]
    dispensable += [] if any(task.depends_on for task in tasks) else ["depends on"]
    dispensable += [] if any(task.last_failure for task in tasks) else ["why"]
    return OutputTable(COLUMNS, [_row(task) for task in tasks], ("depends on", "title", "why"), dispensable)


def _row(task: Task) -> tuple[str, ...]:
    status: str = task.status
    if task.claimed and status == "in_progress":
        status = "in_progress (claimed)"
    elif task.verified == "none" and status == "completed":
        status = "completed (unverified)"
    why = " ".join(task.reason.split())[:60]  # `--json` has the whole of it
    return task.id, status, task.priority, task.complexity, ", ".join(task.depends_on) or "-", task.title, why
