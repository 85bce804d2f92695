"""What a person is told about an event of the loop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UnsetType

from samuel.base.printable import shell_word
from samuel.base.wording import plural
from samuel.events import AfterIteration, AfterLoop
from samuel.events.endings import IterationOutcome
from samuel.shipped.event_fields import one_line

MAX_TEXT = 2000


class Notification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. Its JSON is what a webhook is sent."""

    kind: str
    """question, blocked or ended."""
    project: str
    run_id: str
    title: str
    message: str
    text: str
    """The title and the message in one: the key that chat services show."""
    task: dict[str, str] = {}
    question: dict[str, Any] = {}
    exit_reason: str = ""
    iterations_run: int = 0


def notification(event: AfterIteration | AfterLoop) -> Notification | None:
    """What to tell about the event; None if it is not worth a message."""
    if isinstance(event, AfterLoop):
        iterations = plural(event.iterations_run, "iteration")
        message = f"{event.exit_reason} after {iterations}: {event.exit_reason.meaning}"
        ended = {"exit_reason": str(event.exit_reason), "iterations_run": event.iterations_run}
        return _notification(event, "ended", "the run has ended", message, ended)
    task = {name: str(event.task.get(name) or "") for name in ("id", "title", "status")}
    subject = one_line(f"task {task['id']} {task['title']}", 200)
    question = _question(event)
    if event.outcome == IterationOutcome.ASKED and question:
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(question["options"], start=1))
        message = f"{question['text']}{options}\nsamuel run answer {shell_word(question['id'])} TEXT"
        return _notification(
            event, "question", f"{subject} has a question", message, {"task": task, "question": question}
        )
    if task["status"] == "blocked":
        reason = one_line(str(event.task.get("last_failure") or "no reason was given"))
        return _notification(event, "blocked", f"{subject} is blocked", reason, {"task": task})
    return None


def _notification(
    event: AfterIteration | AfterLoop, kind: str, what: str, message: str, fields: Mapping[str, Any]
) -> Notification:
    project = Path(event.project_root).name
    title = f"Samuel, {project}: {what}"
    message = message if len(message) <= MAX_TEXT else f"{message[: MAX_TEXT - 1]}…"
    run_id = event.run_id if isinstance(event.run_id, str) else ""
    return Notification(
        kind=kind,
        project=project,
        run_id=run_id,
        title=title,
        message=message,
        text=f"{title}\n{message}",
        **fields,
    )


def _question(event: AfterIteration) -> dict[str, Any]:
    if not isinstance(event.question, UnsetType):
        question = event.question
        return {"id": question.id, "text": question.text, "options": question.options}
    rows = [row for row in event.task.get("questions") or () if not row.get("answer")]
    keys = ("id", "text", "options")
    return {key: rows[-1].get(key) or ([] if key == "options" else "") for key in keys} if rows else {}
