"""`samuel schema`: the group and its one command."""

from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.config.schema import config_schema

COMMANDS = {"config": CommandEntry("Print the JSON Schema of samuel.toml.", "schema")}


@click.group(cls=LazyGroup, package="samuel.cli", table=COMMANDS)
def schema() -> None:
    """Print the JSON Schema of samuel.toml.

    `samuel hooks schema` prints those of events.

    \b
        samuel schema config
    """


@command()
def config(here: CommandContext) -> None:
    """Print the JSON Schema of samuel.toml.

    Draft 2020-12. `samuel init` writes it to .samuel/samuel.schema.json, where editors find it; this command
    updates it.

    \b
        samuel schema config > .samuel/samuel.schema.json
    """
    here.out.object(config_schema())
