"""All skills of a project and its user, and how the prompt names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.hooks.handler import HandlerStatus
from samuel.plugins.installed import InstalledPlugin
from samuel.skills.skill import Skill, name_of, skill
from samuel.skills.text_files import shadowing, shelves, texts

FOLDER = "skills"


def find_skills(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Skill]:
    """The highest precedence first, with those that are broken or shadowed. `plugins` are those that take part."""
    found = [
        skill(text) for shelf in shelves(FOLDER, root, home, plugins) for text in texts(shelf, name_of, deepest=2)
    ]
    return [
        one._replace(status=HandlerStatus.SHADOWED, reason=why) if why else one
        for one, why in zip(found, shadowing(found), strict=True)
    ]


class Listing(NamedTuple):
    """The skills as the prompt's template sees them."""

    shown: list[dict[str, str]]
    left_out: tuple[str, ...]
    """The names of those that there was no more room for."""


def for_prompt(found: Iterable[Skill], root: Path, most: int) -> Listing:
    """Name, description and file of those that work, within a number of bytes."""
    shown: list[dict[str, str]] = []
    left_out: list[str] = []
    for one in found:
        if one.status is not HandlerStatus.ACTIVE:
            continue
        inside = one.path.is_relative_to(root)
        path = str(one.path.relative_to(root) if inside else one.path)
        most -= len(f"{one.name}{one.description}{path}".encode())
        if most < 0:
            left_out.append(one.name)
        else:
            shown.append({"Name": one.name, "Description": one.description, "Path": path})
    return Listing(shown, tuple(left_out))
