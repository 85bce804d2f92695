"""`samuel run skip` and `block`: tasks that a run does not work on."""

from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.setup.decisions import skip_task
from samuel.setup.run_state import change_tasks
from samuel.tasks.task import find


@command()
@click.argument("id")
@click.option("--reason", required=True, metavar="WHY", help="Why the task is skipped.")
def skip(here: CommandContext, id: str, reason: str) -> int:
    """Skip a task, with a reason.

    Tasks that depend on it can start as if it were done.

    \b
        samuel run skip 1.2 --reason "done by hand"
    """
    task = skip_task(here.root, id, reason)
    return here.out.answer(task.plain(), f"task `{id}` is skipped: {task.last_failure}")


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
