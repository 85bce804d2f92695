from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin.mentions import mentions
from samuel.cli.plugin.plugin_store import switch
from samuel.cli.plugin.selection import all_plugins
from samuel.plugins.requirements import needing


@command()
@click.argument("name")
def disable(here: CommandContext, name: str) -> int:
    """Disable a plugin in this project.

    This is written to samuel.toml, so it applies to everyone who works on the project.

    \b
        samuel plugin disable org/repo
    """
    plugin = switch(here, name, enabled=False)
    others = [other for other, enabled in all_plugins(here.root) if enabled]
    return here.out.answer(
        {"name": plugin.title, "enabled": False},
        f"{plugin.title} is disabled in this project.",
        warnings=[*(f"`{title}` requires it" for title in needing(plugin, others)), *mentions(here.root, plugin)],
    )
