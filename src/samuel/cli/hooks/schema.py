from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.events import event_type
from samuel.events import schema as schemas


@command()
@click.argument("event", required=False)
def schema(here: CommandContext, event: str | None) -> None:
    """Print the JSON Schema of one event or of all.

    \b
        samuel hooks schema context.extra
    """
    here.out.object(schemas.schema(event_type(event)) if event else schemas.all_schemas())
