"""How good routing is, on prompts with the ability that each of them asks for.

Only the development sets are tested: the other one is kept aside, and reported by `make bench`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from samuel.routing.abilities.route import AbilityRouting, open_index, route

from .labelled_sets import DEVELOPMENT, HELD_OUT, Labelled, labelled, unrelated_everywhere

Ask = Callable[[str], AbilityRouting]

SETS = {name: labelled(name) for name in DEVELOPMENT}

# What is found first, at least: of the first registry's prompts more repeat its own words.
LEAST = {"web_shop": 0.8, "data_platform": 0.68, "game_studio": 0.67}


@pytest.fixture(scope="module", params=DEVELOPMENT)
def labelled_router(request: pytest.FixtureRequest) -> Iterator[tuple[Labelled, Ask]]:
    labelled_set = SETS[request.param]
    with open_index(labelled_set.registry) as index:
        yield labelled_set, partial(route, registry=labelled_set.registry, index=index)


def test_most_prompts_find_their_ability_first(labelled_router: tuple[Labelled, Ask]) -> None:
    labelled_set, ask = labelled_router
    first = [
        ([candidate.id for candidate in ask(text).candidates[:1]], wants) for text, wants in labelled_set.prompts
    ]
    right = sum(ids == [wants] for ids, wants in first)
    wrong = sum(bool(ids) and ids != [wants] for ids, wants in first)
    assert right / len(first) >= LEAST[labelled_set.name]
    assert wrong / len(first) <= 0.05, "where it is not sure it offers nothing"


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, labelled_set in SETS.items() for text in labelled_set.unrelated]
)
def test_unrelated_prompts_find_nothing(indexes: dict[str, Ask], name: str, text: str) -> None:
    assert indexes[name](text).candidates == ()


def test_at_most_four_percent_of_unrelated_prompts_are_offered_an_ability(
    labelled_router: tuple[Labelled, Ask],
) -> None:
    _, ask = labelled_router
    texts = unrelated_everywhere()
    assert len(texts) >= 100
    assert sum(bool(ask(text).candidates) for text in texts) / len(texts) <= 0.04


@pytest.fixture(scope="module")
def indexes() -> Iterator[dict[str, Ask]]:
    opened = {name: open_index(labelled_set.registry) for name, labelled_set in SETS.items()}
    yield {name: partial(route, registry=SETS[name].registry, index=index) for name, index in opened.items()}
    for index in opened.values():
        index.close()


def test_every_ability_of_the_labelled_sets_has_a_prompt_and_no_prompt_is_repeated() -> None:
    held_out = labelled(HELD_OUT)
    for labelled_set in (*SETS.values(), held_out):
        ids = {ability.id for ability in labelled_set.registry.abilities}
        assert len(ids) >= 25
        assert {wants for _, wants in labelled_set.prompts} == ids, (
            f"{labelled_set.name}: each ability is asked for"
        )
    texts = [
        text
        for labelled_set in (*SETS.values(), held_out)
        for text in (*(text for text, _ in labelled_set.prompts), *labelled_set.unrelated)
    ]
    assert len({*texts, *unrelated_everywhere()}) == len(texts) + len(unrelated_everywhere())
