from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run import change_tasks
from samuel.clock import SystemClock, iso
from samuel.tasks.task import find


@click.command()
@click.argument("id")
@click.option("--commit", metavar="SHA", default="", help="The commit that did it.")
@json_option
@click.pass_obj
def done(here: CommandContext, id: str, commit: str) -> int:
    """Mark a task as done.

    Inside a run, and for the task that an agent is working on, this is a claim: it counts when the quality checks
    pass.

    \b
        samuel run done 1.2 --commit 4f0c2d1
    """
    at = iso(SystemClock().now())
    task = find(change_tasks(here, lambda who, tasks: who.done(tasks, id, at=at, commit=commit)), id)
    completed = task.status == "completed"
    result = "is completed" if completed else "is claimed; it counts when the quality checks pass"
    return here.out.answer(task.plain(), f"task `{id}` {result}")
