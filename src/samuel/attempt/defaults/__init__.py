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


REVIEW = "review"
"""The handler of `quality.check` by which another agent reviews a claim, where samuel.toml has `review`."""
REVIEW_ORDER = 900
"""After the checks, and after the handlers of plugins and of the project."""
_SPARE = 60.0  # seconds for what comes around the readings


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
    handlers = [
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
    return [*handlers, _reviewer(place, settings)] if settings.review.agent else handlers


def _reviewer(place: Callable[[], Workplace], settings: Methodology) -> Handler:
    reading = settings.review.timeout or settings.agent_timeout
    return Handler(
        name=REVIEW,
        event=names.QUALITY_CHECK,
        origin=Origin.BUILT_IN,
        runtime="inline",
        order=REVIEW_ORDER,
        function=DefaultHandler("review:ReviewClaim", place),
        timeout=reading * (1 + len(settings.review.lenses)) + _SPARE,
    )
