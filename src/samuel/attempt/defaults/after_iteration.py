"""after:iteration: one entry in progress.md, for the next iterations to learn from."""

from __future__ import annotations

from typing import Any

from samuel.attempt.defaults.common import writes_nothing
from samuel.attempt.workplace import Workplace
from samuel.base.clock import iso
from samuel.events import AfterIteration
from samuel.events.endings import IterationOutcome
from samuel.prompts import progress
from samuel.prompts.progress import learning

# The task is not at fault, or its last failure is that of an earlier attempt.
NOTHING_LEARNED = (
    *(IterationOutcome.LIMITED, IterationOutcome.UNAVAILABLE, IterationOutcome.OVER_BUDGET),
    *(IterationOutcome.ASKED, IterationOutcome.STALLED, IterationOutcome.GATED),
    IterationOutcome.RESTARTED,
)


class AppendProgress:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AfterIteration) -> dict[str, Any]:
        if writes_nothing(event):
            return {"ok": True}
        task = event.task
        done = event.outcome == "completed" and bool(task)
        is_about_failure = not done and event.outcome not in NOTHING_LEARNED and event.mode != "acceptance"
        lesson = learning(str(task.get("last_failure") or "")) if is_about_failure else ""
        progress.append(
            self._place.progress,
            progress.ProgressEntry(
                key=f"{event.run_id}/{event.iteration}",
                timestamp=iso(self._place.clock.now()),
                iteration=event.iteration,
                task_id=str(task.get("id") or "-"),
                outcome=event.outcome,
                completed=(f"{task['id']} {task['title']}",) if done else (),
                failures=(lesson,) if lesson else (),
            ),
        )
        return {"ok": True}
