from __future__ import annotations

from samuel.cli.command_context import CommandContext, command
from samuel.config.schema import config_schema


@command()
def config(here: CommandContext) -> None:
    """Print the JSON Schema of samuel.toml.

    Draft 2020-12. `samuel init` writes it to .samuel/samuel.schema.json, where editors find it; this command
    updates it.

    \b
        samuel schema config > .samuel/samuel.schema.json
    """
    here.out.object(config_schema())
