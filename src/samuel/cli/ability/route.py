from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from samuel import config
from samuel.base import paths
from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.cli.ability.list import abilities, problems
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import read_text
from samuel.cli.session.options import session_of, session_option
from samuel.config.model import Config
from samuel.events.explain import explained
from samuel.events.session import SuggestedAbility
from samuel.process.inside_a_run import inside_a_run
from samuel.routing.abilities.ranking import Ranker
from samuel.routing.abilities.registry import Registry, cache_file
from samuel.routing.abilities.route import AbilityRouting, RankingChoice, RouteCandidate, RouteScope, open_index
from samuel.routing.abilities.route import route as find
from samuel.routing.abilities.usage import read_usage


@command()
@click.argument("text")
@click.option("--scope", metavar="NAME", default="", help="Only abilities of this part of the repository.")
@click.option("--limit", type=click.IntRange(1, 50), default=5, help="The most abilities to show; 5 by default.")
@session_option
@env_option
def route(here: CommandContext, text: str, scope: str, limit: int, session: str, environment: str) -> int:
    """Find the abilities that fit a text, with the reasons.

    With a session, the suggestions of its hooks count too. `-` reads the text from stdin.

    \b
        samuel ability route "run the billing regression tests"
    """
    registry = abilities(here)
    cache = paths.User.from_environment().cache
    settings = config.load(here.root / paths.CONFIG)
    with (
        open_index(registry, cache_file(cache, here.root, "sqlite")) as index,
        _ranker(here, settings, registry) as ranker,
    ):
        routed = find(
            read_text(text),
            registry,
            index,
            where=RouteScope(_environment(environment, settings), scope),
            suggestions=_suggestions(session_of(here, session).suggestions),
            usage=read_usage(here.root),
            limit=limit,
            ranking=RankingChoice(ranker, settings.abilities.candidates) if ranker else None,
        )
    data = {
        "candidates": [_plain(candidate) for candidate in routed.candidates],
        "left_out": dict(routed.left_out),
        "nothing": routed.nothing,
        "nearest": [_plain(candidate) for candidate in routed.nearest],
        "ranked_by": routed.ranked_by,
    }
    return here.out.answer(data, "\n".join(_lines(routed)), warnings=[*routed.reported, *problems(registry)])


def _lines(routed: AbilityRouting) -> Iterator[str]:
    if routed.nothing:
        yield f"nothing: {routed.nothing}"
        return
    for candidate in routed.candidates:
        yield f"{candidate.score:.2f}  {candidate.id} ({candidate.level.value}-level)"
        yield from (f"      {reason}" for reason in candidate.reasons)
    yield from (f"left out: `{id}`: {why}" for id, why in routed.left_out.items())


def _environment(environment: str, settings: Config) -> str:
    """As the engine has it, without opening it."""
    return environment or config.environment(config.load_personal(paths.User.from_environment().config), settings)


@contextmanager
def _ranker(here: CommandContext, settings: Config, registry: Registry) -> Iterator[Ranker | None]:
    """The agent that ranks, if samuel.toml asks for one; none where an agent asks: it is a model itself."""
    if settings.abilities.ranker != "agent" or inside_a_run():
        yield None
        return
    from samuel.app.ranking import ranker  # the engine, which routing by words does without

    with here.open() as app:
        yield ranker(app, registry)


def _plain(candidate: RouteCandidate) -> dict[str, Any]:
    return {**candidate._asdict(), "level": candidate.level.value, "reasons": list(candidate.reasons)}


def _suggestions(suggestions: Iterable[Mapping[str, Any]]) -> list[SuggestedAbility]:
    try:
        return convert(list(suggestions), list[SuggestedAbility])
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the suggestions of the session cannot be read: {explained(error, SuggestedAbility)}",
            "start another session",
        ) from None
