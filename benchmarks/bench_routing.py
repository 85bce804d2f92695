"""Routing prompts to abilities and to knowledge: what a question costs among many, and how often it is right.

The right answers are those of tests/routing/abilities/labelled: three registries with prompts that routing was
developed on, and more prompts for the first of them that were kept aside; and of tests/routing/knowledge/labelled,
a knowledge base. All have prompts that nothing fits.
"""

from __future__ import annotations

import itertools
import random
import runpy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from measure import Row, at_least, at_most, below, take_turns

from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.ranking import Ranking
from samuel.routing.abilities.registry import Registry, cache_file, load
from samuel.routing.abilities.route import RankingChoice, open_index, route
from samuel.routing.knowledge.reading import read_base
from samuel.routing.knowledge.route import route as route_knowledge
from samuel.routing.relevance.index import TextIndex

TESTS = Path(__file__).parent.parent / "tests"
TOPICS = 1_000
ABILITIES_RANKED = 12  # of the 25 to 43 abilities of a registry
SIZES = (1_000, 10_000)
PROMPTS = (
    "Run the full billing regression tests for me",
    "search the logs of the cart worker for timeouts, and then tell me which version is deployed",
    "What will the weather be like in Lisbon this weekend?",
    "renew the certificate of the search api before it expires",
)
VERBS = "run test deploy build check search update create remove renew rotate send fetch apply seed resize"
NOUNS = "billing cart order user mail image cache queue log metric certificate branch schema token flag page"
PARTS = "service api report worker job index export import archive template session policy limit price"


def run(scratch: Path) -> Iterator[Row]:
    warm = {}
    for size in SIZES:
        root, cache = scratch / str(size), scratch / f"cache-{size}"
        _write(root, size)

        def opened(root: Path = root, cache: Path = cache) -> None:
            registry = load(root, cache)
            with open_index(registry, cache_file(cache, root, "db")) as index:
                route(PROMPTS[0], registry, index)

        def from_scratch(root: Path = root) -> None:
            registry = load(root)
            with open_index(registry) as index:
                route(PROMPTS[0], registry, index)

        opened()  # what comes after finds the cache
        rounds = 3 if size > 1_000 else 6
        with_cache, without = take_turns(opened, from_scratch, rounds=rounds, warm_up=1)
        yield at_least(f"opening {size:,} abilities and routing, vs without a cache", with_cache, without, 5)
        registry = load(root, cache)
        with open_index(registry, cache_file(cache, root, "db")) as index:
            (warm[size],) = take_turns(partial(_route_next, itertools.cycle(PROMPTS), registry, index), rounds=200)
        yield below(f"routing a prompt among {size:,} abilities", warm[size], 0.02)
    small, large = SIZES
    yield at_most(f"routing among {large:,} abilities, vs among {small:,}", warm[large], warm[small], 5)
    yield from _knowledge_speed(scratch)
    yield from _ability_quality()
    yield _knowledge_quality(scratch)


def _route_next(prompts: Iterator[str], registry: Registry, index: TextIndex) -> None:
    route(next(prompts), registry, index)


def _knowledge_speed(scratch: Path) -> Iterator[Row]:
    root, cache = scratch / "topics", scratch / "cache-topics"
    _write_topics(root, TOPICS)

    def ask(cache: Path | None) -> None:
        route_knowledge(read_base(root), text=PROMPTS[3], cache=cache)

    cached, anew = take_turns(partial(ask, cache), partial(ask, None), rounds=4, warm_up=1)
    yield at_least(f"finding documents among {TOPICS:,} topics, vs without a cache", cached, anew, 5)


def _ability_quality() -> Iterator[Row]:
    sets = runpy.run_path(str(TESTS / "abilities" / "labelled_sets.py"))
    everywhere = sets["unrelated_everywhere"]()
    for name in (*sets["DEVELOPMENT"], sets["HELD_OUT"]):
        labelled_set = sets["labelled"](name)
        kept_aside = name == sets["HELD_OUT"]
        others = (
            {"unrelated": labelled_set.unrelated}
            if kept_aside
            else {
                "unrelated": labelled_set.unrelated,
                "that fit nowhere": everywhere,
                "near misses": labelled_set.near_misses,
            }
        )
        with open_index(labelled_set.registry) as index:

            def ability_ids(
                text: str, registry: Registry = labelled_set.registry, index: TextIndex = index
            ) -> list[str]:
                return [each.id for each in route(text, registry, index).candidates]

            what = "prompts that were kept aside" if kept_aside else f"what it was developed on, {name}"
            yield _quality(what, labelled_set.prompts, others, ability_ids)
            yield _ranked_quality(what, labelled_set.prompts, labelled_set.registry, index)


def _ranked_quality(what: str, prompts: Sequence[tuple[str, str]], registry: Registry, index: TextIndex) -> Row:
    """With a scripted ranker that knows the answers: what it is not shown, no model can choose."""
    right = dict(prompts)

    def ranker(text: str, abilities: Sequence[Ability], limit: int) -> Ranking:
        return Ranking("scripted", tuple(ability.id for ability in abilities if ability.id == right[text]))

    def first(text: str) -> list[str]:
        return [
            each.id
            for each in route(text, registry, index, ranking=RankingChoice(ranker, ABILITIES_RANKED)).candidates[
                :1
            ]
        ]

    count = sum(first(text) == [wants] for text, wants in prompts)
    return Row(
        f"routing {what}, by a scripted ranker that is shown {ABILITIES_RANKED}: right first",
        f"{count} of {len(prompts)}",
        "-",
        f"{count / len(prompts):.0%}",
        ">= 90 %",
        count / len(prompts) >= 0.9,
    )


def _knowledge_quality(scratch: Path) -> Row:
    labelled_base = runpy.run_path(str(TESTS / "knowledge" / "labelled_base.py"))["labelled"](scratch / "labelled")

    def topics_for(text: str) -> list[str]:
        """The topics of the documents, in their order."""
        documents = route_knowledge(labelled_base.base, text=text).documents
        return list(dict.fromkeys(document.path.split("/")[0] for document in documents))

    return _quality(
        "questions to knowledge", labelled_base.prompts, {"unrelated": labelled_base.unrelated}, topics_for
    )


def _quality(
    what: str,
    prompts: Sequence[tuple[str, str]],
    others: dict[str, Sequence[str]],
    route_text: Callable[[str], list[str]],
) -> Row:
    answers = [(route_text(text), wants) for text, wants in prompts]
    first = sum(ids[:1] == [wants] for ids, wants in answers)
    three = sum(wants in ids[:3] for ids, wants in answers)
    nothing = sum(not ids for ids, _ in answers)
    offered = {kind: sum(bool(route_text(text)) for text in texts) for kind, texts in others.items()}
    return Row(
        f"routing {what}: right first / among three / nothing offered",
        f"{first} / {three} / {nothing} of {len(prompts)}",
        "something offered for "
        + ", ".join(f"{offered[kind]} of {len(texts)} {kind}" for kind, texts in others.items()),
        f"{first / len(prompts):.0%}",
        "nothing for an unrelated one",
        not offered["unrelated"],
    )


def _write_topics(root: Path, size: int) -> None:
    chance = random.Random(size)
    indexes = ""
    (root / "routes").mkdir(parents=True)
    for number in range(size):
        verb, noun, part = (chance.choice(words.split()) for words in (VERBS, NOUNS, PARTS))
        indexes += (
            f"  - {{scope: area{number % 20}.{noun}, topic: {noun}_{part}_{number},"
            f" route_file: routes/{number}.yaml, summary: How the {noun} {part} of team {number % 97} works}}\n"
        )
        (root / f"routes/{number}.yaml").write_text(
            f"scope: area{number % 20}.{noun}\ntopic: {noun}_{part}_{number}\n---\nroutes:\n"
            f"  - when_to_use: Someone wants to {verb} the {noun} {part}\n"
            f"    related_docs: [{{path: docs/{number}.md, stage: [plan], doc_usage: The steps}}]\n"
        )
        (root / f"docs/{number}.md").parent.mkdir(exist_ok=True)
        (root / f"docs/{number}.md").write_text("# Steps\n")
    (root / "ROUTING.md").write_text(f"---\nroute_indexes:\n{indexes}---\n")


def _write(root: Path, size: int) -> None:
    """Abilities that share their words with many others."""
    chance = random.Random(size)
    folder = root / ".system/registry/low-level"
    folder.mkdir(parents=True)
    for number in range(size):
        verb, other = chance.sample(VERBS.split(), 2)
        noun, second = (f"{chance.choice(NOUNS.split())} {chance.choice(PARTS.split())}" for _ in range(2))
        (folder / f"{number}.yaml").write_text(
            f"operation_key: {verb}.{noun.replace(' ', '_')}.{number}\n"
            f"version: 1\n"
            f"summary: {verb} the {noun} and {other} each {second} of team {number % 97}\n"
            f"scope: {{modules: [{noun.split()[0]}], environments: [dev, staging]}}\n"
            f"input_schema: {{type: object, properties: {{target: {{type: string}}}}, required: [target]}}\n"
            f"output_schema: {{type: object, properties: {{status: {{type: string}}}}}}\n"
            f"routing_hints: {{keywords: [{verb} {noun}, {other} {second}], negative_keywords: [production]}}\n"
            f"implementation: {{kind: script, script: {{path: scripts/{number}.sh, timeout: 5m}}}}\n"
        )
