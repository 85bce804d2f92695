"""A person decides about a disputed task: two commands."""

from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.start import RunOptions, run_loop
from samuel.setup.decisions import accept_work, refuse_work
from samuel.setup.readiness import RunRequest


@command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
def accept(here: CommandContext, id: str, yes: bool) -> int:
    """Accept the work on a disputed task, with the old tests that it changed.

    Look at it first: `samuel run show ID --diff`. Its checks run again, and no agent is paid. A run in progress
    completes it; else this command does.

    \b
        samuel run accept 1.2
    """
    if run := accept_work(here.root, id):
        return here.out.answer({"task": id, "completed_by": run}, f"run {run} completes task `{id}`")
    return run_loop(here, RunRequest(), RunOptions(yes=yes, iterations=1, must_complete=id))


@command()
@click.argument("id")
@click.argument("why")
def refuse(here: CommandContext, id: str, why: str) -> int:
    """Refuse the work on a disputed task, with the reason for its next attempt.

    \b
        samuel run refuse 1.2 "the old test is right: prices have two digits"
    """
    task = refuse_work(here.root, id, why)
    return here.out.answer(task.plain(), f"task `{id}` is pending; its next attempt reads why")
