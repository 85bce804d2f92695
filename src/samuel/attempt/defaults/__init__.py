"""Samuel's built-in handlers, one per file. They are registered in the same way as those of plugins."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from samuel.config.model import Methodology
from samuel.events import names
from samuel.hooks.handler import Handler, Origin

if TYPE_CHECKING:
    from samuel.attempt.workplace import Workplace

# Their order is 100: a plugin's handler with order 100 replaces the built-in of its event.
TABLE = {
    names.BEFORE_LOOP: "before_loop:CheckPrd",
    names.BEFORE_ITERATION: "before_iteration:WaitThePause",
    names.ITERATION_GATE: "iteration_gate:ImplementOrDiscover",
    names.CONTEXT_SNAPSHOT: "context_snapshot:DescribeProject",
    names.CONTEXT_PROGRESS: "context_progress:DescribeProgress",
    names.CONTEXT_TASK: "context_task:DescribeTask",
    names.BEFORE_AGENT_INVOKE: "before_agent_invoke:RenderPrompt",
    names.AGENT_INVOKE: "agent_invoke:RunAgent",
    names.AFTER_AGENT_INVOKE: "after_agent_invoke:LogAgent",
    names.QUALITY_CHECK: "quality_check:RunCommands",
    names.AFTER_ITERATION: "after_iteration:AppendProgress",
    names.AFTER_LOOP: "after_loop:Summarise",
}


class DefaultHandler:
    """A built-in handler that is imported when it is first called: the events of a session need none of them."""

    def __init__(self, where: str, place: Callable[[], Workplace]) -> None:
        self._where = where
        self._place = place

    def __call__(self, event: Any) -> Any:
        return self._function(event)

    @cached_property
    def _function(self) -> Callable[[Any], Any]:
        module, _, name = self._where.partition(":")
        function: Callable[[Any], Any] = getattr(importlib.import_module(f"{__name__}.{module}"), name)(
            self._place()
        )
        return function


def built_in(place: Callable[[], Workplace], settings: Methodology) -> list[Handler]:
    """The handlers of this table. `place` is called when one of them runs for the first time."""
    return [
        Handler(
            name="default",
            event=event,
            origin=Origin.BUILT_IN,
            runtime="inline",
            function=DefaultHandler(where, place),
            timeout=settings.agent_timeout if event == names.AGENT_INVOKE else None,
        )
        for event, where in TABLE.items()
    ]
