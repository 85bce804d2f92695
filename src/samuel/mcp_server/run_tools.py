"""What a chat client can ask about a run and tell it: one method for each tool, without the protocol.

Reading goes through the one model of a run, writing through the functions behind the commands of the same names.
Titles, questions and reasons were written by agents and by task lists. They are returned as values of JSON,
without escape sequences, and cut short; nothing in them is looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from samuel.base.printable import safe, without_control_sequences
from samuel.display.now.model import RunNow, TaskNow
from samuel.setup import steering
from samuel.setup.decisions import answer_question
from samuel.setup.watched_run import run_watcher
from samuel.tasks.task import find

MOST_ROWS = 200
"""Tasks or questions in one result: what a model reads has a limit."""
MOST_TEXT = 4000  # characters of a text
MOST_REASON = 300  # characters of a reason in a list
DONE = ("completed", "skipped")

Row = TypeVar("Row")


class RunTools:
    """The tools for the run of one project. They can be called by several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._watcher = run_watcher(root)
        self._lock = threading.Lock()

    def run_status(self) -> dict[str, Any]:
        """What the run is doing now: its phase, counts, attempts under way, cost, and what waits for a person."""
        moment = self._look()
        return _plain(
            {
                "project": moment.project,
                "headline": moment.headline,
                "phase": moment.phase,
                "paused": moment.paused,
                "run_id": moment.run_id,
                "exit_reason": moment.exit_reason,
                "exit_message": moment.exit_message,
                "seconds": moment.seconds,
                "iterations": moment.iterations,
                "max_iterations": moment.max_iterations,
                "counts": moment.counts,
                "cost": moment.cost.words,
                "budgets": {budget.name: budget.words for budget in moment.budgets},
                "attempts": [
                    {
                        "task": attempt.task,
                        "title": attempt.title,
                        "attempt": attempt.attempt,
                        "agent": attempt.agent,
                        "where": attempt.name,
                        "state": attempt.state,
                        "doing": attempt.doing,
                        "seconds": round(moment.at - attempt.started_at, 1),
                    }
                    for attempt in moment.attempts
                ],
                "needs_a_person": [
                    {
                        "subject": item.subject,
                        "state": item.word,
                        "why": _shortened(item.why),
                        "commands": [next.command for next in item.commands],
                    }
                    for item in moment.waiting[:MOST_ROWS]
                ],
                "open_questions": len(moment.questions),
                "guidance": [
                    {"id": entry.id, "text": entry.text, "task": entry.task, "who": entry.who, "at": entry.at}
                    for entry in moment.guidance
                ],
            }
        )

    def questions(self) -> dict[str, Any]:
        """The questions of agents that wait for an answer of a person, with their options."""
        questions = self._look().questions
        rows = [msgspec.to_builtins(question) for question in questions[:MOST_ROWS]]
        return _plain({"questions": rows, "left_off": _left_off(questions)})

    def tasks(self, id: str = "") -> dict[str, Any]:
        """The tasks with their status, those that are not done first. With `id`, all about this task."""
        moment = self._look()
        if id:
            with self._lock:
                task = find(self._watcher.tasks, id)
            return _plain({"task": task.plain()})
        ordered = _undone_first(moment.tasks)
        rows = [{**msgspec.to_builtins(task), "why": _shortened(task.why)} for task in ordered[:MOST_ROWS]]
        return _plain({"counts": moment.counts, "tasks": rows, "left_off": _left_off(ordered)})

    def answer(self, id: str, text: str) -> dict[str, Any]:
        """Answer a question. `id` is that of the question, `text` is any text or the number of an option."""
        task, question = answer_question(self._root, id, text)
        return _plain({"task": task.id, "status": task.status, "question": question.plain()})

    def say(self, text: str, id: str = "") -> dict[str, Any]:
        """Say something to the next attempt: it is in its prompt. With `id`, to all attempts at this task."""
        return _plain(msgspec.to_builtins(steering.say(self._root, text, task=id)))

    def pause(self) -> dict[str, Any]:
        """Let no attempt begin until `resume`. Attempts under way finish, and their work lands."""
        pause = steering.pause(self._root)
        return _plain({"paused": True, "who": pause.who, "at": pause.at})

    def resume(self) -> dict[str, Any]:
        """Let attempts begin again after `pause`."""
        return {"paused": False, "was_paused": steering.resume(self._root) is not None}

    def _look(self) -> RunNow:
        with self._lock:
            return self._watcher.look()


def _undone_first(tasks: Iterable[TaskNow]) -> list[TaskNow]:
    return sorted(tasks, key=lambda task: task.status in DONE)  # stable: in the order of the list


def _left_off(rows: Sequence[Row]) -> int:
    return max(0, len(rows) - MOST_ROWS)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_REASON else f"{text[: MOST_REASON - 1]}…"


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """The data with every text made harmless for a terminal that shows it."""
    return {key: _plain_value(value) for key, value in data.items()}


def _plain_value(value: Any) -> Any:
    match value:
        case str():
            text = value if len(value) <= MOST_TEXT else f"{value[: MOST_TEXT - 1]}…"
            return safe(without_control_sequences(text))
        case dict():
            return {safe(str(key), keep=""): _plain_value(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain_value(item) for item in value]
        case _:
            return value
