"""`samuel plugin`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "add": CommandEntry("Install plugins from git or from a directory."),
    "install": CommandEntry("Install the exact plugins that samuel.lock lists."),
    "list": CommandEntry("List the installed plugins and what they contain."),
    "show": CommandEntry("Show one plugin in full."),
    "update": CommandEntry("Update plugins from where they were installed."),
    "remove": CommandEntry("Remove a plugin."),
    "enable": CommandEntry("Enable a plugin in this project.", "switch"),
    "disable": CommandEntry("Disable a plugin in this project.", "switch"),
    "new": CommandEntry("Write a new plugin with a test, from a working template."),
    "validate": CommandEntry("Check a plugin's files; nothing of it is run."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def plugin() -> None:
    """Install and manage plugins: hooks, skills and recipes.

    \b
        samuel plugin add org/repo
    """
