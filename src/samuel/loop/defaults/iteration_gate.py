"""iteration.gate: implement the next task, or look for new ones? Only pilot mode looks."""

from __future__ import annotations

from typing import Any

from samuel.events import IterationGate
from samuel.loop.workplace import Workplace

FEW = 2  # pending tasks; with fewer it is time to look for more


class ImplementOrDiscover:
    """Discovery first, then every so many iterations, and whenever the queue runs low.

    With the last task left and nothing more found, that task is worked: looking twice in vain ends the run.
    """

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: IterationGate) -> dict[str, Any]:
        pilot = self._place.settings.pilot
        due = (event.iteration - 1) % pilot.discover_interval == 0
        in_vain = event.queue_size > 0 and event.context.get("State", {}).get("EmptyDiscoveries", 0)
        discover = pilot.enabled and (due or (event.queue_size < FEW and not in_vain))
        return {"continue": True, "mode": "discovery" if discover else "implementation"}
