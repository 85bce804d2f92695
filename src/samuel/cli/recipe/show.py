from __future__ import annotations

from collections.abc import Iterator

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.recipe.list import plain, recipes
from samuel.skills.recipe import Recipe
from samuel.skills.recipe_arguments import Argument
from samuel.skills.text_files import choose


@command()
@click.argument("name")
def show(here: CommandContext, name: str) -> int:
    """Show a recipe: its purpose, its arguments and its text.

    \b
        samuel recipe show review
    """
    with here.open() as app:
        recipe = choose(recipes(app), name, "recipe")
    data = {**plain(recipe), "text": recipe.body, "more": recipe.more}
    return here.out.answer(data, "\n".join(_lines(recipe)), recipe.body.strip("\n"), warnings=app.warnings)


def _lines(recipe: Recipe) -> Iterator[str]:
    yield recipe.name + (f": {recipe.description}" if recipe.description else "")
    yield f"file: {recipe.path}"
    if recipe.agent:
        yield f"agent: {recipe.agent}"
    if recipe.allowed_tools is not None:
        yield f"tools: {', '.join(recipe.allowed_tools) or 'none'}"
    for argument in recipe.arguments or ():
        yield f"argument: {_argument_line(argument)}"
    yield ""


def _argument_line(argument: Argument) -> str:
    need = "required" if argument.required else f"default {'' if argument.default is None else argument.default!r}"
    return f"{argument.name} ({need.strip()})" + (f": {argument.description}" if argument.description else "")
