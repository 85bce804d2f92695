"""after:iteration: one entry in progress.md, for the next iterations to learn from."""

from __future__ import annotations

from typing import Any

from samuel.clock import iso
from samuel.context import progress
from samuel.events import AfterIteration
from samuel.ralph.workplace import Workplace


class AppendProgress:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AfterIteration) -> dict[str, Any]:
        if event.dry_run:
            return {"ok": True}
        task = event.task
        completed = [f"{task.get('id')} {task.get('title')}"] if event.outcome == "completed" and task else []
        failure = str(task.get("last_failure") or "").split("\n")[0] if event.outcome != "completed" else ""
        progress.append(
            self._place.progress,
            progress.Entry(
                key=f"{event.run_id}/{event.iteration}",
                at=iso(self._place.clock.now()),
                iteration=event.iteration,
                task=str(task.get("id") or "-"),
                outcome=event.outcome,
                completed=completed,
                learnings=[failure] if failure else [],
            ),
        )
        return {"ok": True}
