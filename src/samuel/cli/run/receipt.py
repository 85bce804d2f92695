from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.selection import RunsOfProject
from samuel.git.git import Git
from samuel.process import environment
from samuel.receipts.receipts import receipt_of, receipts_of


@command()
@click.argument("name", metavar="[RUN|TASK]", default="")
def receipt(here: CommandContext, name: str) -> int:
    """Print the receipt of a task, or the receipts of a run.

    A receipt says what was checked, how, and where.

    A receipt is an in-toto Statement. That of a task is one JSON object, and those of a run are an array. Without
    an argument, those of the last run.

    \b
        samuel run receipt 1.2 > receipt.json
        samuel verify receipt.json
    """
    runs = RunsOfProject.here(here)
    selection = runs.select(name)
    git = Git(here.root, environment.clean())
    if selection.run_id:
        here.out.object(receipts_of(git, runs.history.load(selection.run_id).attempts))
    else:
        here.out.object(receipt_of(git, runs.attempts(selection.task_id), selection.task_id))
    return 0
