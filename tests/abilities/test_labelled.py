"""How good routing is, on prompts with the ability that each of them asks for.

Only the development part is tested: the other one is kept aside, and reported by `make bench`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.abilities.registry import Registry, load
from samuel.abilities.route import open_index, route
from samuel.files import yaml
from samuel.relevance.index import Index

LABELLED = Path(__file__).parent / "labelled"


def part(name: str) -> dict[str, list]:
    return yaml.load((LABELLED / f"{name}.yaml").read_bytes(), name).mapping()


@pytest.fixture(scope="module")
def pool() -> Iterator[tuple[Registry, Index]]:
    registry = load(LABELLED / "project")
    with open_index(registry) as index:
        yield registry, index


def test_most_prompts_find_their_ability_first(pool) -> None:
    registry, index = pool
    prompts = part("development")["prompts"]
    first = [[one.id for one in route(prompt["text"], registry, index).candidates[:1]] for prompt in prompts]
    right = sum(found == [prompt["wants"]] for prompt, found in zip(prompts, first, strict=True))
    wrong = sum(bool(found) and found != [prompt["wants"]] for prompt, found in zip(prompts, first, strict=True))
    assert right / len(prompts) >= 0.8
    assert wrong / len(prompts) <= 0.05, "where it is not sure it offers nothing"


@pytest.mark.parametrize("text", part("development")["unrelated"])
def test_unrelated_prompts_find_nothing(pool, text: str) -> None:
    assert route(text, *pool).candidates == ()


def test_the_parts_are_what_they_say() -> None:
    registry = load(LABELLED / "project")
    assert len(registry.abilities) >= 25
    for name, of_each in (("development", 4), ("held_out", 2)):
        wanted = [prompt["wants"] for prompt in part(name)["prompts"]]
        assert sorted(wanted) == sorted(one.id for one in registry.abilities for _ in range(of_each))
    texts = [prompt["text"] for name in ("development", "held_out") for prompt in part(name)["prompts"]]
    assert len(set(texts)) == len(texts)
