"""`samuel recipe`: the table of its commands."""

from __future__ import annotations

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "list": CommandEntry("List the recipes and where they come from."),
    "show": CommandEntry("Show a recipe: its purpose, its arguments and its text."),
    "run": CommandEntry("Run the agent with the prompt of a recipe."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def recipe() -> None:
    """List and run prompts with arguments.

    \b
        samuel recipe run review --arg branch=main
    """
