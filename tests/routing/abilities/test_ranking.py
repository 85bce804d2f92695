"""A model as ranker: what it is shown, which answers count, and what that is worth on the labelled prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from samuel.routing.abilities.model import Ability, Level
from samuel.routing.abilities.ranking import Ranking, ids_in, prompt
from samuel.routing.abilities.route import RankingChoice, open_index, route

from .labelled_sets import DEVELOPMENT, labelled, unrelated_everywhere

SWEEP = Ability(id="sweep", level=Level.LOW, summary="Sweep the floor", file="a.yaml", when_to_use="It is dirty")
MOP = Ability(id="mop", level=Level.LOW, summary="Mop the\nfloor", file="b.yaml")


def test_the_prompt_shows_each_ability_on_one_line_and_the_request_as_data() -> None:
    text = prompt("Clean up\nhere", [SWEEP, MOP], 3)
    assert "\n- sweep: Sweep the floor When to use: It is dirty\n- mop: Mop the floor\n" in text
    assert "\n====================\nClean up\nhere\n====================\n" in text
    assert "at most 3." in text
    with pytest.raises(ValueError, match="no JSON list"):
        ids_in(text, [SWEEP, MOP], 3)  # an agent that repeats what it was told has not answered


@pytest.mark.parametrize(
    ("output", "ids"),
    [
        ('["mop", "sweep"]', ("mop", "sweep")),
        ("[]", ()),
        ('I think of ["mop"] at first.\n\n```json\n["sweep", "sweep"]\n```\n', ("sweep",)),
        (json.dumps({"type": "result", "result": 'Here you are:\n["mop"]'}), ("mop",)),
        (
            json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": '["sweep"]'}})
            + '\n{"type": "turn.completed", "usage": {"output_tokens": 3}}\n',
            ("sweep",),
        ),
    ],
    ids=["a list", "none", "among words", "claude", "codex"],
)
def test_the_answer_of_a_ranker_is_its_last_list_of_ids(output: str, ids: tuple[str, ...]) -> None:
    assert ids_in(output, [SWEEP, MOP], 3) == ids


def test_the_answer_of_a_ranker_is_cut_to_the_limit() -> None:
    assert ids_in('["mop", "sweep"]', [SWEEP, MOP], 1) == ("mop",)


@pytest.mark.parametrize("output", ["", "sweep", '["swep"]', '["sweep", "rm"]', "[1, 2]", "[" * 10_000])
def test_an_answer_without_a_list_of_listed_ids_is_refused(output: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON list|not in the prompt"):
        ids_in(output, [SWEEP, MOP], 3)


class Scripted:
    """Knows the right answers, and gives one whenever it is shown; a real model does at best as well."""

    def __init__(self, right: dict[str, str]) -> None:
        self._right = right

    def __call__(self, text: str, abilities: Sequence[Ability], limit: int) -> Ranking:
        right_id = self._right.get(text, "")
        return Ranking("scripted", (right_id,) if right_id in {ability.id for ability in abilities} else ())


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVELOPMENT)
@pytest.mark.parametrize(("most_ranked", "least"), [(12, 0.87), (40, 0.99)])
def test_the_right_ability_is_in_the_prompt_of_a_ranker(name: str, most_ranked: int, least: float) -> None:
    labelled_set = labelled(name)
    ranker = Scripted(dict(labelled_set.prompts))
    with open_index(labelled_set.registry) as index:
        first = [
            [
                candidate.id
                for candidate in route(
                    text, labelled_set.registry, index, ranking=RankingChoice(ranker, most_ranked)
                ).candidates
            ]
            for text, _ in labelled_set.prompts
        ]
        right = sum(ids == [wants] for ids, (_, wants) in zip(first, labelled_set.prompts, strict=True))
        assert right / len(first) >= least
        texts = (*labelled_set.unrelated, *labelled_set.near_misses, *unrelated_everywhere())
        assert not any(
            route(text, labelled_set.registry, index, ranking=RankingChoice(ranker, most_ranked)).candidates
            for text in texts
        )


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_a_failing_ranker_is_reported_and_the_words_decide(name: str) -> None:
    labelled_set = labelled(name)

    def broken(text: str, abilities: Sequence[Ability], limit: int) -> Ranking:
        return Ranking("broken", problem="it did not answer within 60s")

    with open_index(labelled_set.registry) as index:
        for text, _ in labelled_set.prompts[:40]:
            by_words = route(text, labelled_set.registry, index)
            routed = route(text, labelled_set.registry, index, ranking=RankingChoice(broken))
            problem = "the agent `broken` gave no ranking, the words decide: it did not answer within 60s"
            assert routed.reported == (problem,)
            assert routed.candidates == by_words.candidates
            assert routed.ranked_by == "words"


def test_the_nearest_abilities_are_returned_but_not_offered() -> None:
    labelled_set = labelled(DEVELOPMENT[0])
    with open_index(labelled_set.registry) as index:
        for text, _ in labelled_set.prompts:
            routed = route(text, labelled_set.registry, index, limit=3)
            assert len(routed.nearest) <= 3
            assert not {near.id for near in routed.nearest} & {candidate.id for candidate in routed.candidates}
            scores = [near.score for near in routed.nearest]
            assert scores == sorted(scores, reverse=True)
