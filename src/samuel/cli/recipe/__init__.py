"""`samuel recipe`: the table of its commands, and where they find recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.skills.recipe import Recipe

COMMANDS = {
    "list": CommandEntry(
        "samuel.cli.recipe.list:list_", "Show every recipe that was found, and where it comes from."
    ),
    "show": CommandEntry(
        "samuel.cli.recipe.show:show", "Show what a recipe is for, what it takes and what it says."
    ),
    "run": CommandEntry("samuel.cli.recipe.run:run", "Let the agent do what a recipe says."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def recipe() -> None:
    """Prompts with arguments, run by name.

    \b
        samuel recipe run review --arg branch=main
    """


def recipes(app: App) -> list[Recipe]:
    """Those of the project, of its user, and of the plugins that take part."""
    from samuel.skills.find_recipes import find_recipes  # YAML, which the other groups do without

    return find_recipes(app.paths.root, app.user.home, app.plugins.usable)
