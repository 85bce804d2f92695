"""after:iteration: one entry in progress.md, for the next iterations to learn from."""

from __future__ import annotations

from typing import Any

from samuel.clock import iso
from samuel.events import AfterIteration
from samuel.loop.defaults.common import writes_nothing
from samuel.loop.workplace import Workplace
from samuel.prompts import progress


class AppendProgress:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AfterIteration) -> dict[str, Any]:
        if writes_nothing(event):
            return {"ok": True}
        task = event.task
        done = event.outcome == "completed" and bool(task)
        failure = "" if done else str(task.get("last_failure") or "").split("\n")[0]
        progress.append(
            self._place.progress,
            progress.ProgressEntry(
                key=f"{event.run_id}/{event.iteration}",
                timestamp=iso(self._place.clock.now()),
                iteration=event.iteration,
                task_id=str(task.get("id") or "-"),
                outcome=event.outcome,
                completed=(f"{task['id']} {task['title']}",) if done else (),
                learnings=(failure,) if failure else (),
            ),
        )
        return {"ok": True}
