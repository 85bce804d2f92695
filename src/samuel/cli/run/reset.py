from __future__ import annotations

import os

import click

from samuel.cli.here import Here, json_option
from samuel.cli.run import state_directory
from samuel.tasks.rights import asker
from samuel.tasks.store import TaskStore
from samuel.tasks.task import find


@click.command()
@click.argument("id")
@json_option
@click.pass_obj
def reset(here: Here, id: str) -> int:
    """Make a task pending again, as if it had never been tried.

    \b
        samuel run reset 1.2
    """
    who = asker(os.environ)
    task = find(TaskStore(state_directory(here)).change(lambda tasks: who.reset(tasks, id)), id)
    return here.out.answer(task.plain(), f"task `{id}` is pending")
