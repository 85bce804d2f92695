from __future__ import annotations

import click
import msgspec

from samuel.cli.command_context import CommandContext, command
from samuel.history.steering import Guidance
from samuel.setup import steering

NOW = "End the attempts under way that it is for, without costing one; they start again with it."


@command()
@click.argument("text")
@click.option(
    "--task", default="", metavar="ID", help="For all attempts at this task, not for the next one of any."
)
@click.option("--now", is_flag=True, help=NOW)
def say(here: CommandContext, text: str, task: str, now: bool) -> int:
    """Say something to the next attempt, or to all attempts at a task.

    It is in the prompt, below a heading of its own, with your login name. It can be said before a run starts.

    \b
        samuel run say "use the standard library only"
        samuel run say --task 1.2 "the old format has to work, too"
        samuel run say --now "not there: the parser is in src/reader.py"
    """
    guidance = steering.say(here.root, text, task=task, now=now)
    return here.out.answer(msgspec.to_builtins(guidance), _line(guidance))


def _line(guidance: Guidance) -> str:
    if guidance.restarts:
        names = ", ".join(f"`{task}`" for task in guidance.restarts if task) or "the discovery"
        return f"the agent ends, and starts again with it: {names}"
    return f"all attempts at task `{guidance.task}` read it" if guidance.task else "the next attempt reads it"
