"""`samuel skill`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("List the skills and where they come from."),
    "show": CommandEntry("Show a skill: its purpose and its text."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def skill() -> None:
    """List the SKILL.md files offered to agents.

    \b
        samuel skill list
    """
