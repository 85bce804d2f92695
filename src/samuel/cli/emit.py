from __future__ import annotations

import signal

import click

from samuel.cli.command_context import CommandContext, env_option
from samuel.cli.emit_event import emit_event
from samuel.emit.call import EmitArguments
from samuel.process.emit_client import DEADLINE_OPTION, LONGEST_DEADLINE


@click.command()
@click.argument("event")
@click.option(
    *("--as", "client"),
    metavar="CLIENT",
    default="",
    help="EVENT, stdin and the answer are those of this agent's own hooks: claude, codex, gemini, …",
)
@click.option(
    "--session",
    metavar="ID",
    default="",
    help="The session that the event belongs to; results of hooks are stored there.",
)
@env_option
@click.option(
    DEADLINE_OPTION,
    metavar="SECONDS",
    type=click.IntRange(1, LONGEST_DEADLINE),
    help="End after this time, whatever hooks are doing. Without an answer, the hooks of an agent deny.",
)
@click.pass_obj
def emit(
    here: CommandContext, event: str, client: str, session: str, environment: str, deadline: int | None
) -> int:
    """Fire an event from any program or agent.

    The context is a JSON object on stdin, with the event's fields; the merged result comes on stdout. Exits with 0
    to go on and with 2 to stop, the reason on stderr. On an event that can be denied, whatever goes wrong here
    stops it too. Inside an agent that Samuel runs, its session and its recipe are filled in if the context does
    not name others.

    With `--as`, EVENT is an event of that agent's own hooks, stdin is its payload, and the answer is the one that
    this agent expects; an error denies in the agent's own way.

    \b
        samuel emit UserPromptSubmit --session s1 < context.json
        samuel emit --as claude PreToolUse < payload.json
    """
    if deadline:  # where it is not the last option: else it counts already
        signal.alarm(deadline)
    return emit_event(here, EmitArguments(event, client, session, environment))
