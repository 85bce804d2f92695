"""`samuel hooks`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import Entry, LazyGroup

COMMANDS = {
    "list": Entry("samuel.cli.hooks.list:list_", "Show every hook that was found, and what became of it."),
    "explain": Entry("samuel.cli.hooks.explain:explain", "Show who answers to an event, in what order, and why."),
    "fire": Entry("samuel.cli.hooks.fire:fire", "Fire an event, and show what came of it."),
    "log": Entry("samuel.cli.hooks.log:log", "Show the calls of the past."),
    "new": Entry("samuel.cli.hooks.new:new", "Write a hook that works, to start from."),
    "schema": Entry("samuel.cli.hooks.schema:schema", "Print the JSON Schema of an event, or of all."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def hooks() -> None:
    """See, try and write hooks.

    \b
        samuel hooks list
    """
