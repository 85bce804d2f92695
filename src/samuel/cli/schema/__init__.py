"""`samuel schema`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "config": CommandEntry("samuel.cli.schema.config:config", "Print the JSON Schema of samuel.toml."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def schema() -> None:
    """Print the JSON Schema of samuel.toml.

    `samuel hooks schema` prints those of events.

    \b
        samuel schema config
    """
