"""`samuel knowledge`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "route": CommandEntry("Find the documents that fit a text or an intent, with the reasons."),
    "lint": CommandEntry("Check ROUTING.md and the documents it leads to."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def knowledge() -> None:
    """Find the documents to read for a task.

    \b
        samuel knowledge route "which checks run before a commit?"
    """
