"""`samuel session`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "start": CommandEntry("Start a session.", "events"),
    "prompt": CommandEntry("Fire UserPromptSubmit with the user's prompt.", "events"),
    "stop": CommandEntry("Fire SessionStop with the files that were changed.", "events"),
    "end": CommandEntry("End a session.", "events"),
    "do": CommandEntry("Carry out or drop the follow-up actions of hooks."),
    "list": CommandEntry("List all sessions."),
    "show": CommandEntry("Show what hooks returned in a session."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def session() -> None:
    """Record an agent session and fire its events.

    \b
        samuel session start
        samuel session prompt "Run the billing regression tests"
    """
