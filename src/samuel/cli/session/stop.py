from __future__ import annotations

import click
from msgspec import UNSET

from samuel.base.printable import file_name
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.session import display
from samuel.cli.session.options import chosen, id_option
from samuel.events import SessionStop


@command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--changed", multiple=True, metavar="FILE", help="A file that was changed; can be repeated.")
@id_option
@env_option
def stop(here: CommandContext, files: tuple[str, ...], changed: tuple[str, ...], id: str, environment: str) -> int:
    """Fire SessionStop with the files that were changed.

    Files are named from the project's root. By default, the files that changed since the session started,
    according to git.

    \b
        samuel session stop --changed services/billing/invoice.ts
    """
    session = chosen(here, id)
    with here.open(environment=environment) as app:
        paths = [file_name(path) for path in (*changed, *files)]
        recorded = app.session_recorder(here.confirm).fire(session.id, SessionStop(changed_files=paths or UNSET))
    return display.answer(here, app, recorded, f"session `{session.id}` has stopped")
