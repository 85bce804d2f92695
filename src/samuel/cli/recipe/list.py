from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.cli.recipe import recipes
from samuel.plugins.contents import contents
from samuel.skills.recipe import Recipe

COLUMNS = ("name", "origin", "status", "description", "reason")


@click.command("list")
@json_option
@click.pass_obj
def list_(here: CommandContext) -> int:
    """List the recipes and where they come from.

    \b
        samuel recipe list
    """
    with here.open() as app:
        found = [plain(one) for one in recipes(app)]
        waiting = [
            f"`{plugin.title}` is not trusted, so its recipes are left out: {', '.join(names)}; run `samuel trust`"
            for plugin in app.plugins.untrusted
            if (names := contents(plugin.directory, plugin.manifest).recipes)
        ]
    rows = [[str(row[column] or "-") for column in COLUMNS] for row in found]
    return here.out.answer(found, OutputTable(COLUMNS, rows), warnings=[*app.warnings, *waiting])


def plain(one: Recipe) -> dict[str, object]:
    return {
        "name": one.name,
        "title": one.title,
        "description": one.description,
        "arguments": None if one.arguments is None else [argument._asdict() for argument in one.arguments],
        "allowed_tools": None if one.allowed_tools is None else list(one.allowed_tools),
        "agent": one.agent,
        "origin": one.origin.label,
        "path": str(one.path),
        "status": one.status.value,
        "reason": one.reason,
    }
