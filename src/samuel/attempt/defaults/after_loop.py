"""after:loop: writes summary.md, which says how the run ended and what became of the tasks."""

from __future__ import annotations

from typing import Any

from samuel.attempt.defaults.common import writes_nothing
from samuel.attempt.workplace import Workplace
from samuel.base.printable import safe
from samuel.events import AfterLoop
from samuel.files import atomic
from samuel.tasks.question import answer_command


class Summarise:
    """Writes summary.md to the state directory, unless the event is of a dry run or was fired by hand."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AfterLoop) -> dict[str, Any]:
        tasks = self._place.tasks.load() if self._place.prd.exists() else ()
        counts = dict.fromkeys(("completed", "pending", "blocked", "skipped"), 0)
        for task in tasks:
            counts[task.status] = counts.get(task.status, 0) + 1
        lines = [
            f"# Run {event.run_id}",
            "",
            f"- ended: {event.exit_reason}",
            f"- iterations: {event.iterations_run}",
            *(f"- {status}: {count}" for status, count in counts.items() if count),
            *(f"- {name}: {value}" for name, value in event.usage.items()),
            *(
                f"- blocked {task.id} {task.title}: {_line(task.last_failure)}"
                for task in tasks
                if task.status == "blocked"
            ),
            *(
                f"- waiting {task.id} {task.title}: {_line(question.text)} (`{answer_command(task.id, question)}`)"
                for task in tasks
                for question in task.open_questions
            ),
        ]
        if writes_nothing(event):
            return {"ok": True}
        text = "".join(f"{safe(line, keep='')}\n" for line in lines)
        atomic.write_text(self._place.state / "summary.md", text, disk=self._place.disk)
        return {"ok": True}


def _line(text: str) -> str:
    return text.split("\n")[0][:200]
