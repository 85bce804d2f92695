"""UserPromptSubmit: which abilities a message asks for, as hints. Routing decides, and works without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samuel.abilities import registry, route
from samuel.abilities.model import Ability
from samuel.abilities.route import Candidate
from samuel.abilities.usage import read_usage
from samuel.events import UserPromptSubmit
from samuel.paths import User
from samuel.rules.numbers import Suggesting
from samuel.shipped.told import besides, environment, told


def hook(event: UserPromptSubmit) -> dict[str, Any]:
    root, cache = Path(event.project_root), User.from_environment().cache
    scope = besides(event, "scope")
    abilities = registry.load(root, cache)
    with route.open_index(abilities, registry.cache_file(cache, root, "sqlite")) as index:
        routed = route.route(
            event.user_message,
            abilities,
            index,
            environment=environment(),
            scope=scope if isinstance(scope, str) else "",
            usage=read_usage(root),
            limit=told(event, Suggesting).limit,
        )
    if not routed.candidates:
        return {"logs": [{"level": "debug", "message": routed.nothing}]}
    return {
        "suggested_abilities": [_suggestion(one, abilities.find(one.id)) for one in routed.candidates],
        "messages_to_user": [_message(abilities.find(routed.candidates[0].id))],
    }


def _suggestion(candidate: Candidate, ability: Ability) -> dict[str, Any]:
    return {
        "id": ability.id,
        "reason": ability.when_to_use or ability.summary,
        "confidence": round(candidate.score, 2),
    }


def _message(ability: Ability) -> str:
    kind = f"the {ability.type} ability" if ability.type else "the ability"
    return f"You can use {kind} `{ability.id}`: {ability.summary}"
