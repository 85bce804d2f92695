"""Routing prompts to abilities: what a question costs among many, and how often the answer is right.

The right answers are those of tests/abilities/labelled: prompts that routing was developed on, and others that
were kept aside. Both parts also have some that no ability fits.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measure import Row, at_least, at_most, below, take_turns

from samuel.abilities.registry import Registry, cache_file, load
from samuel.abilities.route import open_index, route
from samuel.files import yaml
from samuel.relevance.index import Index

LABELLED = Path(__file__).parent.parent / "tests" / "abilities" / "labelled"
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
    yield _quality("development", "the prompts it was developed on")
    yield _quality("held_out", "prompts that were kept aside")


def _route_next(prompts: Iterator[str], registry: Registry, index: Index) -> None:
    route(next(prompts), registry, index)


def _quality(part: str, what: str) -> Row:
    registry = load(LABELLED / "project")
    said = yaml.load((LABELLED / f"{part}.yaml").read_bytes(), part).mapping()
    prompts, unrelated, near = said["prompts"], said["unrelated"], said.get("near_misses", [])
    with open_index(registry) as index:
        found = [[one.id for one in route(prompt["text"], registry, index).candidates] for prompt in prompts]
        offered, nearly = (
            sum(bool(route(text, registry, index).candidates) for text in texts) for texts in (unrelated, near)
        )
    first = sum(ids[:1] == [prompt["wants"]] for prompt, ids in zip(prompts, found, strict=True))
    three = sum(prompt["wants"] in ids[:3] for prompt, ids in zip(prompts, found, strict=True))
    nothing = sum(not ids for ids in found)
    return Row(
        f"routing {what}: right first / among three / nothing offered",
        f"{first} / {three} / {nothing} of {len(prompts)}",
        f"something offered for {offered} of {len(unrelated)} unrelated ones"
        + (f" and {nearly} of {len(near)} near misses" if near else ""),
        f"{first / len(prompts):.0%}",
        ">= 80 % first, no unrelated one",
        first / len(prompts) >= 0.8 and not offered,
    )


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
