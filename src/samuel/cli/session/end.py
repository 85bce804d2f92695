from __future__ import annotations

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.session import display
from samuel.cli.session.options import chosen, id_option
from samuel.events import SessionEnd


@command()
@id_option
@env_option
def end(here: CommandContext, id: str, environment: str) -> int:
    """End a session.

    \b
        samuel session end
    """
    session = chosen(here, id)
    with here.open(environment=environment) as app:
        recorded = app.session_recorder(here.confirm).fire(session.id, SessionEnd())
    return display.answer(here, app, recorded, f"session `{session.id}` has ended")
