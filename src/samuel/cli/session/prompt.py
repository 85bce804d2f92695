from __future__ import annotations

import click
from msgspec import UNSET

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import read_text
from samuel.cli.session import display
from samuel.cli.session.options import chosen, id_option, stage_option
from samuel.events import UserPromptSubmit
from samuel.events.event import Stage


@command()
@click.argument("text")
@click.option(
    "--file", "files", multiple=True, metavar="FILE", help="A file that the prompt is about; can be repeated."
)
@id_option
@stage_option
@env_option
def prompt(
    here: CommandContext, text: str, files: tuple[str, ...], id: str, stage: Stage | None, environment: str
) -> int:
    """Fire UserPromptSubmit with the user's prompt.

    Prints what the hooks suggest. `-` reads the text from stdin.

    \b
        samuel session prompt "Run the billing regression tests"
    """
    session = chosen(here, id)
    event = UserPromptSubmit(
        user_message=read_text(text),
        files_touched=list(files) if files else UNSET,
        stage=stage or UNSET,
    )
    with here.open(environment=environment) as app:
        recorded = app.session_recorder(here.confirm).fire(session.id, event)
    hint_lines = "\n".join(display.hints(recorded.session)) or "the hooks suggest nothing"
    return display.answer(here, app, recorded, hint_lines)
