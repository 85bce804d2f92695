"""`samuel hooks`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("samuel.cli.hooks.list:list_", "Show every hook that was found, and what became of it."),
    "explain": CommandEntry(
        "samuel.cli.hooks.explain:explain", "Show who answers to an event, in what order, and why."
    ),
    "fire": CommandEntry("samuel.cli.hooks.fire:fire", "Fire an event and show the result of its hooks."),
    "validate": CommandEntry(
        "samuel.cli.hooks.validate:validate", "Check every YAML hook, and say what is wrong."
    ),
    "enable": CommandEntry("samuel.cli.hooks.switch:enable", "Switch a YAML hook on."),
    "disable": CommandEntry("samuel.cli.hooks.switch:disable", "Switch a YAML hook off."),
    "register": CommandEntry(
        "samuel.cli.hooks.register:register", "Print the enabled YAML hooks as JSON, by event."
    ),
    "log": CommandEntry("samuel.cli.hooks.log:log", "Show the calls of the past."),
    "new": CommandEntry("samuel.cli.hooks.new:new", "Write a hook that works, to start from."),
    "schema": CommandEntry("samuel.cli.hooks.schema:schema", "Print the JSON Schema of an event, or of all."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def hooks() -> None:
    """See, try and write hooks.

    \b
        samuel hooks list
    """
