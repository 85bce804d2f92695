"""What a person is told about: each message, and the key under which it is sent once.

Questions come from the task list too, not only from the event: work that must not land without a person, and the
question of an agent whose run was killed before the iteration was settled, have no event of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UnsetType

from samuel.base.errors import SamuelError
from samuel.base.paths import Project, User
from samuel.base.printable import safe, without_control_sequences
from samuel.base.wording import plural
from samuel.events import AfterIteration, AfterLoop
from samuel.events.endings import IterationOutcome
from samuel.shipped.event_fields import one_line, text_or_empty
from samuel.tasks.question import Question, answer_command
from samuel.tasks.store import TaskStore

MOST = 2000
"""Characters of a text: what Discord takes. It has at most 4,000 bytes, so that ntfy makes no file of it."""
MOST_OPTIONS = 800  # characters of them


class RunNotification(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. Its JSON is what a webhook without a template is sent."""

    kind: str
    """question, blocked or ended."""
    project: str
    run_id: str
    title: str
    message: str
    text: str
    """The title and the message in one."""
    task: dict[str, str] = {}
    question: dict[str, Any] = {}
    command: str = ""
    """The command line that answers the question: the last line of the message."""
    exit_reason: str = ""
    iterations_run: int = 0


class DueNotification(NamedTuple):
    key: str
    """The same for the same question, blocked task or end of a run."""
    message: RunNotification
    is_of_event: bool
    """False: it was found in the task list."""


class _Text(NamedTuple):
    """A message in its parts. Only the body is cut short: without its last line it would be of no use."""

    title: str
    body: str
    options: str = ""
    command: str = ""

    def message(self) -> str:
        ending = f"{self.options}\n{self.command}" if self.command else ""
        return _cut(self.body, MOST - _size(f"{self.title}\n{ending}")) + ending


def due(event: AfterIteration | AfterLoop) -> Iterator[DueNotification]:
    """What the event is about, if it is worth a message; then the open questions of the task list."""
    if isinstance(event, AfterLoop):
        yield from _questions_in(event)
        yield DueNotification(event.idempotency_key, _ended(event), True)
        return
    task = _task_fields(event.task)
    yield from _questions_of(event, task)
    if task["status"] == "blocked":
        reason = one_line(str(event.task.get("last_failure") or "no reason was given"))
        text = _Text(_title(event, f"{_subject(task)} is blocked"), reason)
        yield DueNotification(event.idempotency_key, _notification(event, "blocked", text, {"task": task}), True)
    yield from _questions_in(event)


def state_directory(event: AfterIteration | AfterLoop) -> Path:
    """Where the run keeps its state."""
    paths = event.context.get("Paths")
    named = paths.get("Run") if isinstance(paths, Mapping) else None
    root = Path(event.project_root)
    return root / named if isinstance(named, str) and named else Project(root).run


def _ended(event: AfterLoop) -> RunNotification:
    iterations = plural(event.iterations_run, "iteration")
    body = f"{event.exit_reason} after {iterations}: {event.exit_reason.meaning}"
    fields = {"exit_reason": str(event.exit_reason), "iterations_run": event.iterations_run}
    return _notification(event, "ended", _Text(_title(event, "the run has ended"), body), fields)


def _questions_of(event: AfterIteration, task: dict[str, str]) -> Iterator[DueNotification]:
    """The open questions of the event's task, if its agent asked one."""
    if event.outcome != IterationOutcome.ASKED:
        return
    rows = [_question(row) for row in event.task.get("questions") or ()]
    questions = [row for row in rows if row.open]
    if not isinstance(event.question, UnsetType) and event.question.id not in {row.id for row in rows}:
        question = event.question
        questions.append(Question(id=question.id, text=question.text, options=tuple(question.options)))
    yield from _notifications(event, task, questions, is_of_event=True)


def _question(row: Mapping[str, Any]) -> Question:
    """A question as an event has it: events can be fired by hand, with fewer fields."""
    id, text, asked_at, answer = (str(row.get(name) or "") for name in ("id", "text", "asked_at", "answer"))
    options = tuple(map(str, row.get("options") or ()))
    return Question(id=id, text=text, options=options, asked_at=asked_at, answer=answer)


def _questions_in(event: AfterIteration | AfterLoop) -> Iterator[DueNotification]:
    """The questions of the task list that wait for a person; none outside of a run."""
    if isinstance(event.run_id, UnsetType):
        return
    with suppress(SamuelError, OSError):  # the run itself reports a task list that cannot be read
        state = state_directory(event)
        store = TaskStore(state, User.from_environment().record(state))
        tasks, seal = store.load(), store.seal
        for task in seal.rebuild(tasks).tasks if seal is not None else tasks:
            if task.status == "waiting":
                yield from _notifications(
                    event, _task_fields(task.plain()), task.open_questions, is_of_event=False
                )


def _notifications(
    event: AfterIteration | AfterLoop, task: dict[str, str], questions: Iterable[Question], *, is_of_event: bool
) -> Iterator[DueNotification]:
    for question in questions:
        command = answer_command(task["id"], question)
        options = "".join(
            f"\n{number}. {one_line(option)}" for number, option in enumerate(question.options, start=1)
        )
        text = _Text(
            _title(event, f"{_subject(task)} has a question"),
            safe(without_control_sequences(question.text[: 2 * MOST])).strip("\n"),
            _cut(options, MOST_OPTIONS),
            command,
        )
        fields = {
            "task": task,
            "question": {"id": question.id, "text": question.text, "options": list(question.options)},
            "command": command,
        }
        name = "" if isinstance(event.plugin, UnsetType) else event.plugin.name
        run_id = text_or_empty(event.run_id)
        # A question without a time is not of this task list: it is known by the step that reports it.
        moment = question.asked_at if run_id and question.asked_at else event.idempotency_key
        key = f"{name}/{task['id']}/{question.id}/{moment}"
        yield DueNotification(key, _notification(event, "question", text, fields), is_of_event)


def _notification(
    event: AfterIteration | AfterLoop, kind: str, text: _Text, fields: Mapping[str, Any]
) -> RunNotification:
    message = text.message()
    return RunNotification(
        kind=kind,
        project=Path(event.project_root).name,
        run_id=text_or_empty(event.run_id),
        title=text.title,
        message=message,
        text=f"{text.title}\n{message}",
        **fields,
    )


def _title(event: AfterIteration | AfterLoop, what: str) -> str:
    return one_line(f"Samuel, {Path(event.project_root).name}: {what}")


def _task_fields(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(row.get(name) or "") for name in ("id", "title", "status")}


def _subject(task: Mapping[str, str]) -> str:
    return one_line(f"task {task['id']} {task['title']}", 200)


def _size(text: str) -> int:
    """Characters as chat services count them, or half as many bytes: whichever is more."""
    units = len(text.encode("utf-16-le", "replace")) // 2
    return max(units, (len(text.encode("utf-8", "replace")) + 1) // 2)


def _cut(text: str, most: int) -> str:
    if _size(text) <= most:
        return text
    while text and _size(text) >= most:
        text = text[: min(len(text) - 1, len(text) * most // _size(text))]
    return f"{text}…"
