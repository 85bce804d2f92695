from __future__ import annotations

from collections.abc import Iterable

import click

from samuel.base.wording import headline
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.setup.run_state import state_directory, task_store
from samuel.tasks.task import STATUSES, Task

COLUMNS = ("id", "status", "priority", "complexity", "depends on", "title", "reviewed", "why")
DEFAULTS = {"priority": "medium", "complexity": "medium", "depends on": "-", "reviewed": "", "why": ""}


@command()
@click.option("--status", type=click.Choice(STATUSES), help="Only tasks with this status.")
def tasks(here: CommandContext, status: str | None) -> int:
    """List the tasks.

    \b
        samuel run tasks --status blocked
    """
    matching = [task for task in task_store(state_directory(here.root)).load() if status in (None, task.status)]
    return here.out.answer([task.plain() for task in matching], table(matching) if matching else "no tasks")


def table(tasks: Iterable[Task]) -> OutputTable:
    """The tasks, without the columns in which every task has what it has by default."""
    rows = [_row(task) for task in tasks]
    silent = {name for name, default in DEFAULTS.items() if all(row[name] == default for row in rows)}
    columns = [name for name in COLUMNS if name not in silent]
    folded = [name for name in ("depends on", "title", "reviewed", "why") if name in columns]
    return OutputTable(columns, [[row[name] for name in columns] for row in rows], folded)


def _row(task: Task) -> dict[str, str]:
    status: str = task.status
    if task.claimed and status == "in_progress":
        status = "in_progress (claimed)"
    elif task.grade == "unverified" and status == "completed":
        status = "completed (unverified)"
    why = headline(task.reason, 60)  # `--json` has the whole of it
    depends_on, reviewed = ", ".join(task.depends_on) or "-", headline(task.reviewed, 60)
    cells = (task.id, status, task.priority, task.complexity, depends_on, task.title, reviewed, why)
    return dict(zip(COLUMNS, cells, strict=True))
