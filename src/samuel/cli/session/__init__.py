"""`samuel session`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "start": CommandEntry("samuel.cli.session.start:start", "Start a session."),
    "prompt": CommandEntry("samuel.cli.session.prompt:prompt", "Fire UserPromptSubmit with the user's prompt."),
    "stop": CommandEntry("samuel.cli.session.stop:stop", "Fire SessionStop with the files that were changed."),
    "end": CommandEntry("samuel.cli.session.end:end", "End a session."),
    "do": CommandEntry("samuel.cli.session.do:do", "Carry out or drop the follow-up actions of hooks."),
    "list": CommandEntry("samuel.cli.session.list:list_", "List all sessions."),
    "show": CommandEntry("samuel.cli.session.show:show", "Show what hooks returned in a session."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def session() -> None:
    """Record an agent session and fire its events.

    \b
        samuel session start
        samuel session prompt "Run the billing regression tests"
    """
