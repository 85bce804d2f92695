from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin import plugin_lines
from samuel.cli.plugin.plugin_store import named


@command()
@click.argument("name")
def show(here: CommandContext, name: str) -> int:
    """Show one plugin in full.

    \b
        samuel plugin show org/repo
    """
    plugin, enabled = named(here.root, name)
    return here.out.answer(plugin_lines.everything(plugin, enabled), plugin_lines.portrait(plugin, enabled))
