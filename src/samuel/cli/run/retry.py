from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.setup import steering


@command()
@click.argument("id")
@click.option("--agent", default="", metavar="NAME", help="The agent that works on this task, and on no other.")
def retry(here: CommandContext, id: str, agent: str) -> int:
    """Make a task pending again, if you like for another agent.

    Its attempts are forgotten, as by `samuel run reset`. Without --agent the agents of the run work on it again.

    \b
        samuel run retry 1.2 --agent codex
    """
    task = steering.retry(here.root, id, agent=agent)
    return here.out.answer(
        {**task.plain(), "agent": agent}, f"task `{id}` is pending{f' for {agent}' if agent else ''}"
    )
