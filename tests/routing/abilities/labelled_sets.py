"""Prompts with the ability that each of them asks for: the sets in `labelled/`, also for the benchmarks.

Three registries of different trades are what routing is developed on. `held_out` has more prompts for the first of
them; those are not read by a person, nor which of them fail: `make bench` reports how many do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from samuel.files import yaml
from samuel.routing.abilities.model import Ability, Level
from samuel.routing.abilities.registry import Registry, load

FOLDER = Path(__file__).parent / "labelled"
DEVELOPMENT = ("web_shop", "data_platform", "game_studio")
HELD_OUT = "held_out"


class Labelled(NamedTuple):
    name: str
    registry: Registry
    prompts: tuple[tuple[str, str], ...]
    """What is asked, and the id of the ability that it is asked for."""
    unrelated: tuple[str, ...]
    near_misses: tuple[str, ...]
    """They share the very words of an ability and ask for something else: reported, not demanded."""


def labelled(name: str) -> Labelled:
    labelled_file = _read({"web_shop": "development"}.get(name, name))
    return Labelled(
        name,
        _registry(labelled_file["abilities"]) if "abilities" in labelled_file else load(FOLDER / "project"),
        tuple((entry["text"], entry["wants"]) for entry in labelled_file["prompts"]),
        tuple(labelled_file["unrelated"]),
        tuple(labelled_file.get("near_misses", ())),
    )


def unrelated_everywhere() -> tuple[str, ...]:
    """What no ability of any of the registries fits."""
    return tuple(_read("unrelated")["unrelated"])


def _read(name: str) -> dict[str, Any]:
    return yaml.load((FOLDER / f"{name}.yaml").read_bytes(), name).mapping()


def _registry(labelled_file: list[dict[str, Any]]) -> Registry:
    abilities = (
        Ability(
            id=entry["id"],
            level=Level(entry.get("level", "low")),
            summary=entry["summary"],
            file=f"{entry['id']}.yaml",
            when_to_use=entry.get("when_to_use", ""),
            area=entry["area"],
            keywords=tuple(entry["keywords"]),
        )
        for entry in labelled_file
    )
    return Registry(tuple(sorted(abilities, key=lambda ability: ability.id)))
