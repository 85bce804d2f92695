from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.session import display


@command()
@click.option("--id", "id", metavar="ID", default="", help="The id of the session; a new one by default.")
@env_option
def start(here: CommandContext, id: str, environment: str) -> int:
    """Start a session.

    \b
        samuel session start --id s1
    """
    with here.open(environment=environment) as app:
        id = id or app.clock.new_id("sess")
        recorded = app.session_recorder(here.confirm).begin(id)
    return display.answer(here, app, recorded, f"session `{id}` has begun")
