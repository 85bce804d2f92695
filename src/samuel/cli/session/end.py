from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, env_option, json_option
from samuel.cli.session import display
from samuel.cli.session.options import chosen, id_option
from samuel.events import SessionEnd


@click.command()
@id_option
@env_option
@json_option
@click.pass_obj
def end(here: CommandContext, id: str, environment: str) -> int:
    """End a session.

    \b
        samuel session end
    """
    session = chosen(here, id)
    with here.open(environment=environment) as app:
        recorded = app.session_recorder(here.confirm).fire(session.id, SessionEnd())
    return display.answer(here, app, recorded, f"session `{session.id}` has ended")
