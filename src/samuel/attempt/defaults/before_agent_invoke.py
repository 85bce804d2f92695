"""before:agent.invoke: compose the prompt from its template and the context."""

from __future__ import annotations

from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.events import BeforeAgentInvoke
from samuel.prompts.render import load, render

TEMPLATES = {"discovery": "discovery-prompt.md.j2", "acceptance": "acceptance-prompt.md.j2"}
"""The templates of modes other than implementation."""


class RenderPrompt:
    def __init__(self, place: Workplace) -> None:
        self._templates = place.templates

    def __call__(self, event: BeforeAgentInvoke) -> dict[str, Any]:
        """Render the prompt; what an earlier handler put into it stays, above the rendered text."""
        for_recipe_or_ability = event.recipe_name or (event.extra and "ability_id" in event.extra)
        if for_recipe_or_ability and not event.iteration:  # a loop may have been started inside of one
            return {}  # the text of a recipe or of an ability is the prompt, and is rendered already
        text, template = load(TEMPLATES.get(event.mode, "prompt.md.j2"), self._templates / event.methodology)
        rendered = render(text, event.context, template)
        return {"prompt": f"{event.prompt.rstrip()}\n\n{rendered}" if event.prompt else rendered}
