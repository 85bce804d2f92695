"""`samuel plugin enable` and `disable`: a line of samuel.toml."""

from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.plugin.plugin_store import all_plugins, mentions, named
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.requirements import needing
from samuel.plugins.store import set_enabled
from samuel.process.inside_a_run import refuse_inside_a_run


@command()
@click.argument("name")
def enable(here: CommandContext, name: str) -> int:
    """Enable a plugin in this project.

    This is written to samuel.toml, so it applies to everyone who works on the project.

    \b
        samuel plugin enable org/repo
    """
    plugin = _switch(here, name, enabled=True)
    return here.out.answer({"name": plugin.title, "enabled": True}, f"{plugin.title} is enabled in this project.")


@command()
@click.argument("name")
def disable(here: CommandContext, name: str) -> int:
    """Disable a plugin in this project.

    This is written to samuel.toml, so it applies to everyone who works on the project.

    \b
        samuel plugin disable org/repo
    """
    plugin = _switch(here, name, enabled=False)
    others = [other for other, enabled in all_plugins(here.root) if enabled]
    return here.out.answer(
        {"name": plugin.title, "enabled": False},
        f"{plugin.title} is disabled in this project.",
        warnings=[*(f"`{title}` requires it" for title in needing(plugin, others)), *mentions(here.root, plugin)],
    )


def _switch(here: CommandContext, name: str, *, enabled: bool) -> InstalledPlugin:
    refuse_inside_a_run()
    plugin, _ = named(here.root, name)
    set_enabled(here.root, plugin, enabled)
    return plugin
