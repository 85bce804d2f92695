"""UserPromptSubmit: suggests the abilities that a message asks for. They are hints: routing works without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samuel.base.paths import User
from samuel.events import UserPromptSubmit
from samuel.routing.abilities import registry, route
from samuel.routing.abilities.execution import check
from samuel.routing.abilities.execution.check import CallRefused
from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.route import RouteCandidate
from samuel.routing.abilities.usage import read_usage
from samuel.shipped.event_fields import config_of, environment, extra_field
from samuel.shipped.rule_values import SuggestionRules


def hook(event: UserPromptSubmit) -> dict[str, Any]:
    root, cache = Path(event.project_root), User.from_environment().cache
    scope = extra_field(event, "scope")
    abilities = registry.load(root, cache)
    with route.open_index(abilities, registry.cache_file(cache, root, "sqlite")) as index:
        routed = route.route(
            event.user_message,
            abilities,
            index,
            where=route.RouteScope(environment(), scope if isinstance(scope, str) else ""),
            usage=read_usage(root),
            limit=config_of(event, SuggestionRules).limit,
        )
    if not routed.candidates:
        return {"logs": [{"level": "debug", "message": routed.nothing}]}
    matches = [(candidate, abilities.find(candidate.id)) for candidate in routed.candidates]
    callable_here = [(candidate, ability) for candidate, ability in matches if _refused(ability) is None]
    if not callable_here:
        refused = _refused(matches[0][1])
        assert refused is not None
        return {"messages_to_user": [f"What fits cannot run here: {refused.reason}; {refused.suggestion}"]}
    return {
        "suggested_abilities": [_suggestion(candidate, ability) for candidate, ability in callable_here],
        "messages_to_user": [_message(callable_here[0][1])],
    }


def _refused(ability: Ability) -> CallRefused | None:
    """Why a call would be refused before anything runs."""
    return check.implemented(ability) or check.in_environment(ability, environment())


def _suggestion(candidate: RouteCandidate, ability: Ability) -> dict[str, Any]:
    return {
        "id": ability.id,
        "reason": ability.when_to_use or ability.summary,
        "confidence": round(candidate.score, 2),
    }


def _message(ability: Ability) -> str:
    kind = f"the {ability.type} ability" if ability.type else "the ability"
    return f"You can use {kind} `{ability.id}`: {ability.summary}"
