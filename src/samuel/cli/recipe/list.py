from __future__ import annotations

from samuel.app import App
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.plugins.contents import contents
from samuel.skills.recipe import Recipe, find_recipes

COLUMNS = ("name", "origin", "status", "description", "reason")


@command("list")
def list_(here: CommandContext) -> int:
    """List the recipes and where they come from.

    \b
        samuel recipe list
    """
    with here.open() as app:
        recipe_rows = [plain(recipe) for recipe in recipes(app)]
        waiting = [
            f"`{plugin.title}` is not trusted, so its recipes are left out: {', '.join(names)}; run `samuel trust`"
            for plugin in app.plugins.untrusted
            if (names := contents(plugin.directory, plugin.manifest).recipes)
        ]
    return here.out.answer(recipe_rows, OutputTable.of(COLUMNS, recipe_rows), warnings=[*app.warnings, *waiting])


def recipes(app: App) -> list[Recipe]:
    """The recipes of the project, of its user, and of enabled plugins."""
    return find_recipes(app.paths.root, app.user.home, app.plugins.usable)


def plain(recipe: Recipe) -> dict[str, object]:
    return {
        **fields_of(recipe, "name", "title", "description"),
        "arguments": None if recipe.arguments is None else [argument._asdict() for argument in recipe.arguments],
        **fields_of(recipe, "allowed_tools", "agent"),
        "origin": recipe.origin.label,
        "path": str(recipe.path),
        **fields_of(recipe, "status", "reason"),
    }
