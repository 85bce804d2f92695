"""All skills of a project and its user, and how the prompt names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.hooks.handler import HandlerStatus
from samuel.plugins.installed import InstalledPlugin
from samuel.skills.skill import Skill, name_of, skill
from samuel.skills.text_files import read_directory, shadow_reasons, text_directories

FOLDER = "skills"


def find_skills(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Skill]:
    """All skills, broken and shadowed ones too, the highest precedence first. `plugins` are the usable ones."""
    skills = [
        skill(text_file)
        for directory in text_directories(FOLDER, root, home, plugins)
        for text_file in read_directory(directory, name_of, deepest=2)
    ]
    return [
        item._replace(status=HandlerStatus.SHADOWED, reason=why) if why else item
        for item, why in zip(skills, shadow_reasons(skills), strict=True)
    ]


class Listing(NamedTuple):
    """The skills as the prompt's template sees them."""

    listed: list[dict[str, str]]
    left_out: tuple[str, ...]
    """The names of the skills that exceed the limit."""


def for_prompt(skills: Iterable[Skill], root: Path, bytes_left: int) -> Listing:
    """Name, description and file of the active skills, as many as fit into a number of bytes."""
    listed: list[dict[str, str]] = []
    left_out: list[str] = []
    for item in skills:
        if item.status is not HandlerStatus.ACTIVE:
            continue
        inside = item.path.is_relative_to(root)
        path = str(item.path.relative_to(root) if inside else item.path)
        bytes_left -= len(f"{item.name}{item.description}{path}".encode())
        if bytes_left < 0:
            left_out.append(item.name)
        else:
            listed.append({"Name": item.name, "Description": item.description, "Path": path})
    return Listing(listed, tuple(left_out))
