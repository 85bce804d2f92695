"""Samuel's own handlers, one per file. They enter through the same door as everybody's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samuel.events import names
from samuel.hooks.handler import Handler, Origin
from samuel.ralph.defaults.after_agent_invoke import LogAgent
from samuel.ralph.defaults.after_iteration import AppendProgress
from samuel.ralph.defaults.after_loop import Summarise
from samuel.ralph.defaults.agent_invoke import RunAgent
from samuel.ralph.defaults.before_agent_invoke import RenderPrompt
from samuel.ralph.defaults.before_iteration import WaitThePause
from samuel.ralph.defaults.before_loop import CheckPrd
from samuel.ralph.defaults.context_progress import DescribeProgress
from samuel.ralph.defaults.context_snapshot import DescribeProject
from samuel.ralph.defaults.context_task import DescribeTask
from samuel.ralph.defaults.iteration_gate import ImplementOrDiscover
from samuel.ralph.defaults.quality_check import RunCommands
from samuel.ralph.workplace import Workplace


def built_in(place: Workplace) -> list[Handler]:
    """The table of defaults. A plugin that asks for order 100 takes such a place."""
    functions: dict[str, Callable[..., Any]] = {
        names.BEFORE_LOOP: CheckPrd(place),
        names.BEFORE_ITERATION: WaitThePause(place),
        names.ITERATION_GATE: ImplementOrDiscover(place),
        names.CONTEXT_SNAPSHOT: DescribeProject(place),
        names.CONTEXT_PROGRESS: DescribeProgress(place),
        names.CONTEXT_TASK: DescribeTask(place),
        names.BEFORE_AGENT_INVOKE: RenderPrompt(place.templates),
        names.AGENT_INVOKE: RunAgent(place),
        names.AFTER_AGENT_INVOKE: LogAgent(place),
        names.QUALITY_CHECK: RunCommands(place),
        names.AFTER_ITERATION: AppendProgress(place),
        names.AFTER_LOOP: Summarise(place),
    }
    return [
        Handler(
            name="default",
            event=event,
            origin=Origin.BUILT_IN,
            runtime="inline",
            function=function,
            timeout=place.settings.agent_timeout if event == names.AGENT_INVOKE else None,
        )
        for event, function in functions.items()
    ]
