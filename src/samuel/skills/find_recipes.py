"""All recipes of a project and its user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samuel.hooks.handler import HandlerStatus
from samuel.plugins.installed import InstalledPlugin
from samuel.skills.recipe import Recipe, name_of, recipe
from samuel.skills.text_files import read_directory, shadow_reasons, text_directories

FOLDER = "recipes"


def find_recipes(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Recipe]:
    """All recipes, broken and shadowed ones too, the highest precedence first. `plugins` are the usable ones."""
    recipes = [
        recipe(text_file)
        for directory in text_directories(FOLDER, root, home, plugins)
        for text_file in read_directory(directory, name_of)
    ]
    return [
        item._replace(status=HandlerStatus.SHADOWED, reason=why) if why else item
        for item, why in zip(recipes, shadow_reasons(recipes), strict=True)
    ]
