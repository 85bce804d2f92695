from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin.plugin_store import switch


@command()
@click.argument("name")
def enable(here: CommandContext, name: str) -> int:
    """Enable a plugin in this project.

    This is written to samuel.toml, so it applies to everyone who works on the project.

    \b
        samuel plugin enable org/repo
    """
    plugin = switch(here, name, enabled=True)
    return here.out.answer({"name": plugin.title, "enabled": True}, f"{plugin.title} is enabled in this project.")
