"""context.task: the description of the agent's task, or in discovery of all tasks there are."""

from __future__ import annotations

from typing import Any

from samuel.attempt.defaults.common import append_to
from samuel.attempt.workplace import Workplace
from samuel.events import ContextTask
from samuel.prompts import task_context


class DescribeTask:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: ContextTask) -> dict[str, Any]:
        tasks = [task.plain() for task in self._place.tasks.load()] if self._place.prd.exists() else []
        if event.mode == "discovery":
            pilot = self._place.settings.pilot
            blob = task_context.discovery(tasks, pilot.focus, pilot.max_discovery_tasks)
        else:
            blob = task_context.implementation(event.task, tasks)
        return {"toon_blob": append_to(event.previous, "toon_blob", blob)}
