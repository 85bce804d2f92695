"""Running a recipe: one session of an agent, which gets the recipe's name and the tools that the recipe allows."""

from __future__ import annotations

from collections.abc import Callable

from samuel.attempt.agent_session import AgentSession
from samuel.attempt.workplace import Workplace
from samuel.clients.adapter.agent import TOOLS
from samuel.dispatch.record import Fired
from samuel.events import Event
from samuel.prompts.prompt_context import PromptContext
from samuel.skills.recipe import Recipe


def session(
    place: Workplace,
    fire: Callable[[Event], Fired],
    context: PromptContext,
    recipe: Recipe,
    agent: str = "",
) -> AgentSession:
    """The session of a recipe. `agent` is the user's choice; "" means the recipe's, or else the project's."""
    tools = recipe.allowed_tools
    own = {"SAMUEL_RECIPE": recipe.name, **({} if tools is None else {TOOLS: "\n".join(tools)})}
    return AgentSession(place, fire, context, agent=agent or recipe.agent, recipe=recipe.name, own=own)
