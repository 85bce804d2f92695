from __future__ import annotations

import click

from samuel.cli.ability.open_call import ability_of, answer, opened
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.session.options import session_option
from samuel.cli.signals import ended_by_signals


@command()
@click.argument("key")
@session_option
@env_option
def run(here: CommandContext, key: str, session: str, environment: str) -> int:
    """Run a prepared call, with its hooks.

    Prints its output as JSON. Exits with 1 if it failed or a hook denied it.

    \b
        samuel ability run call-20250115T102345-0123456789abcdef
    """
    with opened(here, ability_of(here, key), session, environment) as calling, ended_by_signals():
        ended = calling.execution.run(key)
    return answer(here, ended, calling.app)
