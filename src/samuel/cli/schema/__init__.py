"""`samuel schema`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "config": CommandEntry("Print the JSON Schema of samuel.toml."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def schema() -> None:
    """Print the JSON Schema of samuel.toml.

    `samuel hooks schema` prints those of events.

    \b
        samuel schema config
    """
