"""Running a recipe: one session of the agent, which knows its name and the tools that it allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samuel.agents.agent import TOOLS
from samuel.dispatch.record import Fired
from samuel.events import Event
from samuel.loop.agent_session import AgentSession
from samuel.loop.workplace import Workplace
from samuel.skills.recipe import Recipe


def session(
    place: Workplace,
    fire: Callable[[Event], Fired],
    context: Callable[[], dict[str, Any]],
    recipe: Recipe,
    agent: str = "",
) -> AgentSession:
    """`agent` is the person's choice; without one the recipe's, and then the project's."""
    tools = recipe.allowed_tools
    own = {"SAMUEL_RECIPE": recipe.name, **({} if tools is None else {TOOLS: "\n".join(tools)})}
    return AgentSession(place, fire, context, agent=agent or recipe.agent, recipe=recipe.name, own=own)
