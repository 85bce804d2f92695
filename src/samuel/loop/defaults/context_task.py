"""context.task: what the agent must know of its task, or of the tasks there are when it looks for new ones."""

from __future__ import annotations

from typing import Any

from samuel.events import ContextTask
from samuel.loop.defaults.common import after
from samuel.loop.workplace import Workplace
from samuel.prompts import task_context as task


class DescribeTask:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: ContextTask) -> dict[str, Any]:
        tasks = [one.plain() for one in self._place.tasks.load()] if self._place.prd.exists() else []
        if event.mode == "discovery":
            pilot = self._place.settings.pilot
            blob = task.discovery(tasks, pilot.focus, pilot.max_discovery_tasks)
        else:
            blob = task.implementation(event.task, tasks)
        return {"toon_blob": after(event.previous, "toon_blob", blob)}
