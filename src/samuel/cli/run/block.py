from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.setup.run_state import change_tasks
from samuel.tasks.task import find


@command()
@click.argument("id")
@click.option("--reason", required=True, metavar="WHY", help="What the task needs.")
def block(here: CommandContext, id: str, reason: str) -> int:
    """Block a task that cannot be done now, with a reason.

    Tasks that depend on it wait.

    \b
        samuel run block 1.2 --reason "needs an API key"
    """
    task = find(change_tasks(here.root, lambda who, tasks: who.block(tasks, id, reason=reason)), id)
    return here.out.answer(task.plain(), f"task `{id}` is blocked: {task.last_failure}")
