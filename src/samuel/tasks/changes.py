"""Every change a task can go through, as functions from tasks to tasks.

    pending      --begin-->     in_progress       the loop picked it
    in_progress  --claim-->     in_progress       the agent says it is done
    in_progress  --fail-->      pending           or blocked, when it failed too often
    open         --complete-->  completed         the checks passed, or a person says so
    open, blocked --skip-->     skipped           with a reason
    open         --block-->     blocked           with a reason
    any          --reset-->     pending           as if it had never been tried

Open is pending or in_progress.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from samuel.errors import SamuelError, UsageError
from samuel.nearest import did_you_mean
from samuel.tasks.queue import OPEN
from samuel.tasks.task import PRIORITIES, Task, Tasks, find


def begin(tasks: Tasks, id: str, *, iteration: int) -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, OPEN, "begun")  # one in progress is begun again after a crash
    return _put(tasks, task, status="in_progress", iteration=iteration, claimed=False)


def claim(tasks: Tasks, id: str, *, commit: str = "") -> tuple[Task, ...]:
    """The agent's word that it is done: it may be given twice, and it counts when the checks agree."""
    task = _task_in_status(tasks, id, ("in_progress",), "claimed")
    return _put(tasks, task, claimed=True, commit_sha=commit or task.commit_sha)


def fail(tasks: Tasks, id: str, *, failure: str, max_attempts: int) -> tuple[Task, ...]:
    """An attempt that came to nothing. Its reason goes into the next attempt's prompt, or stays with the block."""
    task = _task_in_status(tasks, id, ("in_progress",), "failed")
    attempts = task.attempts + 1
    status = "blocked" if attempts >= max_attempts else "pending"
    return _put(tasks, task, status=status, attempts=attempts, claimed=False, last_failure=_text(failure))


def complete(tasks: Tasks, id: str, *, at: str, commit: str = "") -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, OPEN, "completed")
    return _put(
        tasks, task, status="completed", completed_at=at, commit_sha=commit or task.commit_sha, verified="person"
    )


def skip(tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, (*OPEN, "blocked"), "skipped")
    return _put(tasks, task, status="skipped", claimed=False, last_failure=_reason(reason))


def block(tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
    task = _task_in_status(tasks, id, OPEN, "blocked")
    return _put(tasks, task, status="blocked", claimed=False, last_failure=_reason(reason))


def reset(tasks: Tasks, id: str) -> tuple[Task, ...]:
    fresh: dict[str, Any] = {"completed_at": "", "commit_sha": "", "claimed": False, "attempts": 0, "verified": ""}
    return _put(tasks, find(tasks, id), status="pending", last_failure="", **fresh)


def enqueue(
    tasks: Tasks,
    title: str,
    *,
    priority: str = "medium",
    complexity: str = "medium",
    depends_on: Iterable[str] = (),
    source: str = "user",
    iteration: int = 0,
) -> tuple[Task, ...]:
    """The tasks and a new one, which is the last."""
    words = " ".join(_text(title).split())
    if not words:
        raise UsageError("the task has no title", "say in a few words what is to be done")
    if priority not in PRIORITIES:
        hint = did_you_mean(priority, PRIORITIES, f"one of {', '.join(PRIORITIES)}")
        raise UsageError(f"`{priority}` is not a valid priority", hint)
    needed = tuple(dict.fromkeys(depends_on))
    for id in needed:
        find(tasks, id)
    new = Task(
        id=_new_id(tasks),
        title=words,
        priority=priority,
        complexity=_text(complexity),
        depends_on=needed,
        source=source,
        iteration=iteration,
    )
    return (*tasks, new)


def _task_in_status(tasks: Tasks, id: str, statuses: Iterable[str], become: str) -> Task:
    task = find(tasks, id)
    if task.status in statuses:
        return task
    message = f"task `{id}` is {task.status}, so it cannot be {become}"
    if task.status == "pending":
        raise SamuelError(message, "it is not being worked on")
    raise SamuelError(message, f"`samuel run reset {id}` makes it pending again")


def _put(tasks: Tasks, task: Task, **fields: Any) -> tuple[Task, ...]:
    new = replace(task, **fields)
    return tuple(new if other is task else other for other in tasks)


def _reason(text: str) -> str:
    if not text.strip():
        raise UsageError("the reason is empty", "say why, for the person who reads it later")
    return _text(text).strip()


def _text(text: str) -> str:
    """Text for the file: bytes that are not UTF-8 are replaced."""
    return text.encode(errors="replace").decode()


def _new_id(tasks: Tasks) -> str:
    """The number after the highest: 13 where the last ones are 12.1 and 12.2."""
    numbers = (re.match(r"\D*([0-9]{1,15})", task.id) for task in tasks)
    highest = max((int(number[1]) for number in numbers if number), default=0)
    return str(highest + 1)
