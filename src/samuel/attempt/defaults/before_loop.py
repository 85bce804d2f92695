"""before:loop: check that there are tasks to work on."""

from __future__ import annotations

from typing import Any

from samuel.attempt.workplace import Workplace
from samuel.events import BeforeLoop
from samuel.tasks.queue import next_task, stuck


class CheckPrd:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: BeforeLoop) -> dict[str, Any]:
        tasks = self._place.tasks.load() if self._place.prd.exists() else ()
        if not tasks and not self._place.settings.pilot.enabled:
            return {
                "ok": False,
                "reason": f"`{event.prd_path}` has no tasks; `samuel run init --prd FILE` fills it",
            }
        if tasks and next_task(tasks) is None and (why := stuck(tasks)):
            return {"ok": True, "reason": why}
        return {"ok": True}
