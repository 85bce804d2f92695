from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.start import RunOptions, run_loop
from samuel.setup.decisions import let_land
from samuel.setup.readiness import RunRequest


@command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Trust the commands and hooks of this project as they are now.")
def land(here: CommandContext, id: str, yes: bool) -> int:
    """Let the work on a task land that a handler of `before:land` held back.

    It is merged and checked again, and no agent is paid. A run in progress lands it; else this command does.

    \b
        samuel run land 1.2
    """
    if run := let_land(here.root, id):
        return here.out.answer({"task": id, "landed_by": run}, f"run {run} lands task `{id}`")
    return run_loop(here, RunRequest(), RunOptions(yes=yes, only_land=True))
