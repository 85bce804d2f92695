"""iteration.gate: implement the next task, or in pilot mode look for new ones."""

from __future__ import annotations

from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.events import IterationGate

FEW_TASKS = 2  # with fewer pending tasks it is time to look for more


class ImplementOrDiscover:
    """Discovery first, then every so many iterations, and whenever the queue runs low.

    When a discovery added nothing and a task is left, that task is implemented first: two discoveries in a row
    that add nothing end the run.
    """

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: IterationGate) -> dict[str, Any]:
        pilot = self._place.settings.pilot
        due = (event.iteration - 1) % pilot.discover_interval == 0
        empty_discoveries = event.queue_size > 0 and event.context.get("State", {}).get("EmptyDiscoveries", 0)
        discover = pilot.enabled and (due or (event.queue_size < FEW_TASKS and not empty_discoveries))
        return {"continue": True, "mode": "discovery" if discover else "implementation"}
