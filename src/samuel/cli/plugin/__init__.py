"""`samuel plugin`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "add": CommandEntry("samuel.cli.plugin.add:add", "Install plugins from git or from a directory."),
    "install": CommandEntry("samuel.cli.plugin.install:install", "Install exactly what samuel.lock says."),
    "list": CommandEntry("samuel.cli.plugin.list:list_", "Show the plugins that are there, and what they bring."),
    "show": CommandEntry("samuel.cli.plugin.show:show", "Show everything about one plugin."),
    "update": CommandEntry("samuel.cli.plugin.update:update", "Get what is new where plugins came from."),
    "remove": CommandEntry("samuel.cli.plugin.remove:remove", "Remove a plugin."),
    "enable": CommandEntry("samuel.cli.plugin.enable:enable", "Let a plugin take part in this project again."),
    "disable": CommandEntry("samuel.cli.plugin.disable:disable", "Keep a plugin out of this project."),
    "new": CommandEntry("samuel.cli.plugin.new:new", "Write a plugin that works, with a test, ready to push."),
    "validate": CommandEntry(
        "samuel.cli.plugin.validate:validate", "Say everything that is wrong with a plugin, and run nothing of it."
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def plugin() -> None:
    """Add what others wrote: hooks, skills and recipes.

    \b
        samuel plugin add org/repo
    """
