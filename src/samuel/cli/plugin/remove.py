from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin.plugin_prompt import global_option
from samuel.cli.plugin.plugin_store import mentions, named, store_to_change, tables


@command()
@click.argument("name")
@global_option
@click.option("--force", is_flag=True, help="Remove it even if another plugin requires it.")
def remove(here: CommandContext, name: str, of_user: bool, force: bool) -> int:
    """Remove a plugin.

    What it stored in its own data directory stays.

    \b
        samuel plugin remove org/repo
    """
    store = store_to_change(here, of_user)
    plugin, _ = named(here.root, name, store.location)
    removed = store.remove(plugin.title, force=force)
    warnings = [*mentions(here.root, plugin), *tables(here.root, plugin)]
    return here.out.answer({"removed": removed.title}, f"Removed {removed.title}.", warnings=warnings)
