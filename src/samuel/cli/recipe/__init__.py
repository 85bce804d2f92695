"""`samuel recipe`: the table of its commands, and where they find recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.skills.recipe import Recipe

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


def recipes(app: App) -> list[Recipe]:
    """The recipes of the project, of its user, and of enabled plugins."""
    from samuel.skills.find_recipes import find_recipes  # YAML, which the other groups do without

    return find_recipes(app.paths.root, app.user.home, app.plugins.usable)
