"""All recipes of a project and its user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samuel.hooks.handler import HandlerStatus
from samuel.plugins.installed import InstalledPlugin
from samuel.skills.recipe import Recipe, name_of, recipe
from samuel.skills.text_files import shadowing, shelves, texts

FOLDER = "recipes"


def find_recipes(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Recipe]:
    """The highest precedence first, with those that are broken or shadowed. `plugins` are those that take part."""
    found = [recipe(text) for shelf in shelves(FOLDER, root, home, plugins) for text in texts(shelf, name_of)]
    return [
        one._replace(status=HandlerStatus.SHADOWED, reason=why) if why else one
        for one, why in zip(found, shadowing(found), strict=True)
    ]
