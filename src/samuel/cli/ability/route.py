from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
import msgspec

from samuel import config, paths
from samuel.abilities.registry import cache_file
from samuel.abilities.route import Routed, open_index
from samuel.abilities.route import route as find
from samuel.abilities.usage import read_usage
from samuel.cli import given
from samuel.cli.ability import abilities, problems
from samuel.cli.here import Here, env_option, json_option
from samuel.cli.session.options import session_of, session_option
from samuel.decoding import convert
from samuel.errors import UsageError
from samuel.events.session import SuggestedAbility


@click.command()
@click.argument("text")
@click.option("--scope", metavar="NAME", default="", help="The part of the repository that it is about.")
@click.option("--limit", type=click.IntRange(1, 50), default=5, help="How many are shown at most; 5 without.")
@session_option
@env_option
@json_option
@click.pass_obj
def route(here: Here, text: str, scope: str, limit: int, session: str, environment: str) -> int:
    """Find the abilities for what is wanted, and say why.

    With a session, what its hooks suggest counts too. `-` reads the text from stdin.

    \b
        samuel ability route "run the billing regression tests"
    """
    registry = abilities(here)
    cache = paths.User.from_environment().cache
    with open_index(registry, cache_file(cache, here.root, "sqlite")) as index:
        routed = find(
            given.text(text),
            registry,
            index,
            environment=_environment(here, environment),
            scope=scope,
            suggestions=_suggestions(session_of(here, session).suggestions),
            usage=read_usage(here.root),
            limit=limit,
        )
    data = {
        "candidates": [
            {**one._asdict(), "level": one.level.value, "reasons": list(one.reasons)} for one in routed.candidates
        ],
        "left_out": dict(routed.left_out),
        "nothing": routed.nothing,
    }
    return here.out.answer(data, "\n".join(_lines(routed)), warnings=[*routed.reported, *problems(registry)])


def _lines(routed: Routed) -> Iterator[str]:
    if routed.nothing:
        yield f"nothing: {routed.nothing}"
        return
    for one in routed.candidates:
        yield f"{one.score:.2f}  {one.id} ({one.level.value}-level)"
        yield from (f"      {reason}" for reason in one.reasons)
    yield from (f"left out: `{id}`: {why}" for id, why in routed.left_out.items())


def _environment(here: Here, given: str) -> str:
    """As the engine has it, without opening it."""
    user = paths.User.from_environment()
    return given or config.environment(config.load_personal(user.config), config.load(here.root / paths.CONFIG))


def _suggestions(said: Iterable[Mapping[str, Any]]) -> list[SuggestedAbility]:
    try:
        return convert(list(said), list[SuggestedAbility])
    except msgspec.ValidationError as error:
        raise UsageError(f"what the session suggests cannot be read: {error}", "begin another one") from None
