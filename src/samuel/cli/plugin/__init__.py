"""`samuel plugin`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "add": CommandEntry("samuel.cli.plugin.add:add", "Install plugins from git or from a directory."),
    "install": CommandEntry(
        "samuel.cli.plugin.install:install", "Install the exact plugins that samuel.lock lists."
    ),
    "list": CommandEntry("samuel.cli.plugin.list:list_", "List the installed plugins and what they contain."),
    "show": CommandEntry("samuel.cli.plugin.show:show", "Show one plugin in full."),
    "update": CommandEntry("samuel.cli.plugin.update:update", "Update plugins from where they were installed."),
    "remove": CommandEntry("samuel.cli.plugin.remove:remove", "Remove a plugin."),
    "enable": CommandEntry("samuel.cli.plugin.enable:enable", "Enable a plugin in this project."),
    "disable": CommandEntry("samuel.cli.plugin.disable:disable", "Disable a plugin in this project."),
    "new": CommandEntry("samuel.cli.plugin.new:new", "Write a new plugin with a test, from a working template."),
    "validate": CommandEntry(
        "samuel.cli.plugin.validate:validate", "Check a plugin's files; nothing of it is run."
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def plugin() -> None:
    """Install and manage plugins: hooks, skills and recipes.

    \b
        samuel plugin add org/repo
    """
