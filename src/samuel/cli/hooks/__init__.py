"""`samuel hooks`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("List all hooks with their order, origin and status."),
    "explain": CommandEntry("Show which handlers run on an event, in what order, and why."),
    "fire": CommandEntry("Fire an event and show the result of its hooks."),
    "validate": CommandEntry("Check every YAML hook."),
    "check": CommandEntry("Check which hooks an agent honours."),
    "enable": CommandEntry("Enable a YAML hook.", "switch"),
    "disable": CommandEntry("Disable a YAML hook.", "switch"),
    "rules": CommandEntry("List the rules of shell_guard, or switch one off."),
    "register": CommandEntry("Print the enabled YAML hooks as JSON, by event."),
    "log": CommandEntry("Show past calls of hooks."),
    "replay": CommandEntry("Run recorded events through the hooks of today, and show whose verdict differs."),
    "new": CommandEntry("Write a new hook from a working template."),
    "import": CommandEntry("Turn the project's hooks for other agents into YAML hooks.", "import_hooks"),
    "schema": CommandEntry("Print the JSON Schema of one event or of all."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def hooks() -> None:
    """List, explain, test and write hooks.

    \b
        samuel hooks list
    """
