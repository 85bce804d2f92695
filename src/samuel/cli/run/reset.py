from __future__ import annotations

import click

from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.setup.run_state import change_tasks
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks, find


@command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--blocked", is_flag=True, help="All blocked tasks.")
def reset(here: CommandContext, ids: tuple[str, ...], blocked: bool) -> int:
    """Make tasks pending again and forget their attempts.

    Open questions are withdrawn; answers stay.

    \b
        samuel run reset 1.2
        samuel run reset --blocked
    """
    if bool(ids) is blocked:
        message = "both IDs and --blocked say which tasks to reset" if ids else "which task to reset is missing"
        raise UsageError(message, "give IDs, or --blocked for all blocked tasks")
    chosen: list[str] = []

    def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
        chosen[:] = [task.id for task in tasks if task.status == "blocked"] if blocked else dict.fromkeys(ids)
        changed = tuple(tasks)
        for id in chosen:
            changed = who.reset(changed, id)
        return changed

    tasks = change_tasks(here.root, change)
    rows = [find(tasks, id).plain() for id in chosen]
    lines = [f"task `{id}` is pending" for id in chosen] or ["no task is blocked"]
    # With one ID the data is that task, as it was before there could be several.
    return here.out.answer(rows[0] if len(ids) == 1 else rows, *lines)
