"""Samuel's own handlers, one per file. They enter through the same door as everybody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from samuel.events import names
from samuel.hooks.handler import Handler, Origin
from samuel.ralph.defaults.before_agent_invoke import RenderPrompt
from samuel.ralph.defaults.context_task import describe_task
from samuel.ralph.defaults.quality_check import RunCommands


def built_in(environment: Mapping[str, str], templates: Path) -> list[Handler]:
    """The table of defaults. A plugin that asks for order 100 takes such a place."""
    functions: dict[str, Callable[..., Any]] = {
        names.CONTEXT_TASK: describe_task,
        names.BEFORE_AGENT_INVOKE: RenderPrompt(templates),
        names.QUALITY_CHECK: RunCommands(environment),
    }
    return [
        Handler(name="default", event=event, origin=Origin.BUILT_IN, runtime="inline", function=function)
        for event, function in functions.items()
    ]
