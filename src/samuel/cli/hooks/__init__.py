"""`samuel hooks`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("samuel.cli.hooks.list:list_", "List all hooks with their order, origin and status."),
    "explain": CommandEntry(
        "samuel.cli.hooks.explain:explain", "Show which handlers run on an event, in what order, and why."
    ),
    "fire": CommandEntry("samuel.cli.hooks.fire:fire", "Fire an event and show the result of its hooks."),
    "validate": CommandEntry("samuel.cli.hooks.validate:validate", "Check every YAML hook."),
    "check": CommandEntry("samuel.cli.hooks.check:check", "Check which hooks an agent honours."),
    "enable": CommandEntry("samuel.cli.hooks.switch:enable", "Enable a YAML hook."),
    "disable": CommandEntry("samuel.cli.hooks.switch:disable", "Disable a YAML hook."),
    "register": CommandEntry(
        "samuel.cli.hooks.register:register", "Print the enabled YAML hooks as JSON, by event."
    ),
    "log": CommandEntry("samuel.cli.hooks.log:log", "Show past calls of hooks."),
    "replay": CommandEntry(
        "samuel.cli.hooks.replay:replay",
        "Run recorded events through the hooks of today, and show whose verdict differs.",
    ),
    "new": CommandEntry("samuel.cli.hooks.new:new", "Write a new hook from a working template."),
    "import": CommandEntry(
        "samuel.cli.hooks.import_hooks:import_", "Turn the project's hooks for other agents into YAML hooks."
    ),
    "schema": CommandEntry("samuel.cli.hooks.schema:schema", "Print the JSON Schema of one event or of all."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def hooks() -> None:
    """List, explain, test and write hooks.

    \b
        samuel hooks list
    """
