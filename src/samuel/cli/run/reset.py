from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run import change_tasks
from samuel.tasks.task import find


@click.command()
@click.argument("id")
@json_option
@click.pass_obj
def reset(here: CommandContext, id: str) -> int:
    """Make a task pending again and forget its attempts.

    \b
        samuel run reset 1.2
    """
    task = find(change_tasks(here, lambda who, tasks: who.reset(tasks, id)), id)
    return here.out.answer(task.plain(), f"task `{id}` is pending")
