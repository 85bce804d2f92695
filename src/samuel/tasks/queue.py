"""Which task is next: pure functions over the tasks."""

from __future__ import annotations

from samuel.base.printable import shell_word
from samuel.tasks.question import answer_command
from samuel.tasks.task import PRIORITIES, Task, Tasks, natural

OPEN = ("pending", "in_progress")
MET = ("completed", "skipped")  # a dependency with one of these statuses is met

_RANK = {priority: rank for rank, priority in enumerate(PRIORITIES)}


def next_task(tasks: Tasks) -> Task | None:
    """The task to work on: dependencies met, then the most urgent, then the lowest rank, then the smallest id.

    A task in progress comes first: the iteration that began it was interrupted.
    """
    met = {task.id for task in tasks if task.status in MET}
    ready = (task for task in tasks if task.status in OPEN and met.issuperset(task.depends_on))
    return min(ready, key=_urgency, default=None)


def by_urgency(tasks: Tasks) -> list[Task]:
    """The tasks, the most urgent first, and then by id."""
    return sorted(tasks, key=_urgency)


def remaining(tasks: Tasks) -> tuple[Task, ...]:
    """What there still is to work on. A blocked or waiting task waits for a person, so it is not among them."""
    return tuple(task for task in tasks if task.status in OPEN)


def stuck(tasks: Tasks) -> str:
    """Why nothing can be picked though not everything is done; "" while something can, or nothing is left."""
    if next_task(tasks):
        return ""
    by_id = {task.id: task for task in tasks}
    reasons = [
        _waiting(task) if task.status == "waiting" else _blocked(task)
        for task in sorted(tasks, key=lambda task: natural(task.id))
        if task.status in ("blocked", "waiting")
    ]
    for task in remaining(tasks):
        waits = [f"`{id}` ({by_id[id].status})" for id in task.depends_on if by_id[id].status not in MET]
        reasons.append(f"`{task.id}` waits for {', '.join(waits)}")
    return "; ".join(reasons)


def _blocked(task: Task) -> str:
    return f"`{task.id}` is blocked: {task.last_failure or 'no reason was given'}"


def _waiting(task: Task) -> str:
    questions = [
        f"{' '.join(question.text.split())} (`{answer_command(task.id, question)}`)"
        for question in task.open_questions
    ]
    reset = f"a question that is gone (`samuel run reset {shell_word(task.id)}`)"  # a person edited the file
    return f"`{task.id}` waits for the answer to: {', '.join(questions) or reset}"


def _urgency(task: Task) -> tuple[object, ...]:
    return task.status != "in_progress", _RANK[task.priority], task.rank, natural(task.id)
