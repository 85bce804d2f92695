from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run import change_tasks
from samuel.tasks.task import find


@click.command()
@click.argument("id")
@click.option("--reason", required=True, metavar="WHY", help="For whoever can help.")
@json_option
@click.pass_obj
def block(here: CommandContext, id: str, reason: str) -> int:
    """Set a task aside that cannot be done now, and say why.

    Tasks that depend on it wait.

    \b
        samuel run block 1.2 --reason "needs an API key"
    """
    task = find(change_tasks(here, lambda who, tasks: who.block(tasks, id, reason=reason)), id)
    return here.out.answer(task.plain(), f"task `{id}` is blocked: {task.last_failure}")
