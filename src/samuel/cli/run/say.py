from __future__ import annotations

import click
import msgspec

from samuel.cli.command_context import CommandContext, command
from samuel.history.steering import Guidance
from samuel.setup import steering


@command()
@click.argument("text")
@click.option(
    "--task", default="", metavar="ID", help="For all attempts at this task, not for the next one of any."
)
def say(here: CommandContext, text: str, task: str) -> int:
    """Say something to the next attempt, or to all attempts at a task.

    It is in the prompt, below a heading of its own, with your login name. It can be said before a run starts.

    \b
        samuel run say "use the standard library only"
        samuel run say --task 1.2 "the old format has to work, too"
    """
    guidance = steering.say(here.root, text, task=task)
    return here.out.answer(msgspec.to_builtins(guidance), _line(guidance))


def _line(guidance: Guidance) -> str:
    return f"all attempts at task `{guidance.task}` read it" if guidance.task else "the next attempt reads it"
