"""Broken skills and recipes of a plugin, reported when it is validated and when it is added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samuel.base.errors import ConfigError, Problem
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.plugins.contents import RECIPES, SKILLS
from samuel.prompts.render import used_names
from samuel.skills import recipe as recipes
from samuel.skills import skill as skills
from samuel.skills.text_files import TextDirectory, read_directory


def unusable(directory: Path) -> Iterator[Problem]:
    for text in read_directory(TextDirectory(directory, SKILLS, Origin.PROJECT_PLUGIN), skills.name_of, deepest=2):
        skill = skills.skill(text)
        if skill.status is HandlerStatus.BROKEN:
            yield text.problem or Problem(skill.reason)
    for text in read_directory(TextDirectory(directory, RECIPES, Origin.PROJECT_PLUGIN), recipes.name_of):
        recipe = recipes.recipe(text)
        if recipe.status is HandlerStatus.BROKEN:
            yield text.problem or Problem(recipe.reason)
            continue
        try:  # empty lines in place of the front matter: the lines in messages are then those of the file
            used_names("\n" * (recipe.body_line - 1) + recipe.body, str(recipe.path))
        except ConfigError as error:
            yield from error.problems
