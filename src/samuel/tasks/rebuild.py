"""The task list after an agent or a check worked: the list from before, with the changes that they are allowed.

An agent may claim, skip or block the task it was given, ask questions about it, and add new tasks. A check may
change nothing. Every other change in the task file is undone, and described for the warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from samuel.tasks.question import ID, OF_SAMUEL, Question, new_id
from samuel.tasks.task import COLUMNS, Task, Tasks

NAMED_COLUMNS = ("status", "claimed", "attempts", "iteration", "priority")  # short values, named in a warning
# What an agent may write into a row that it adds: what the task is. Everything else is as in a new task, so that
# no row brings along a command without consent, or files of checks that it may change.
OF_NEW_TASKS = (
    *("id", "title", "description", "priority", "complexity", "rank"),
    *("guardrails", "acceptance", "test_strategy", "extra"),
)
RIGHTS = (
    "claimed",
    "checks",
    "files_to_create",
    "files_to_modify",
    "no_change",
    "kind",
    "proof",
    "acceptance_tests",
    "sent_back",
)  # reported if a new row has them
AGENT_STATUSES = ("skipped", "blocked")
MAX_NEW_QUESTIONS = 20  # of one agent process


class AllowedChanges(NamedTuple):
    """Which tasks may be changed, and how many may be added."""

    own: Collection[str] = ()
    """The tasks that are being worked on. Several once there are several agents."""
    adds: bool = False
    max_new_tasks: int | None = None
    """None is any number."""
    source: str = "agent"
    iteration: int = 0


class Rebuilt(NamedTuple):
    tasks: tuple[Task, ...]
    put_back: tuple[str, ...] = ()
    """What was not allowed and is undone, a short sentence each."""
    new_tasks: int = 0
    problem: str = ""
    """Why the changed file could not be read; the tasks are then those from before."""
    is_removed: bool = False
    """Whether the file was gone; it then counts as it was when a `samuel` last wrote it."""


def rebuild(before: Tasks, after: Tasks, allowed_changes: AllowedChanges) -> Rebuilt:
    """The tasks of `before` with what `allowed_changes` allows of `after`.

    Rows that are the same are the objects of `after`, so that a task file keeps their text. The result fits
    together if `before` and `after` do.
    """
    changed = {task.id: task for task in after}
    ids_before = {task.id for task in before}
    tasks: list[Task] = []
    put_back: list[str] = []
    question_ids = {question.id for task in before for question in task.questions}
    for task in before:
        now = changed.get(task.id)
        allowed = task
        if now is not None and task.id in allowed_changes.own:
            allowed = _with_allowed_change(task, now, question_ids, allowed_changes.iteration)
        tasks.append(now if now == allowed and now is not None else allowed)
        if now != allowed:
            put_back.append(_described(allowed, now))
    common = [task.id for task in after if task.id in ids_before]
    if common != [task.id for task in before if task.id in changed]:
        put_back.append("the order of the tasks was changed")
    new_rows = [task for task in after if task.id not in ids_before]
    added = list(_added(new_rows, ids_before, allowed_changes, put_back))
    return Rebuilt((*tasks, *added), tuple(put_back), len(added))


def _with_allowed_change(task: Task, now: Task, question_ids: set[str], iteration: int) -> Task:
    """The task with what its agent may change: a claim, a question, or a skip or block with its reason."""
    if task.status != "in_progress":
        return task
    if now.status in AGENT_STATUSES:
        # The failure of an earlier attempt does not count as a reason: only the status was changed.
        has_reason = bool(now.last_failure.strip()) and now.last_failure != task.last_failure
        ended = replace(task, status=now.status, claimed=False, last_failure=now.last_failure)
        return ended if has_reason else task
    if now.status == "waiting":
        new_questions = _new_questions(task, now, question_ids, iteration)
        if not new_questions:  # a question that is not there can never be answered
            return task
        return replace(task, status="waiting", claimed=False, questions=(*task.questions, *new_questions))
    if now.claimed or now.status == "completed":
        return replace(task, claimed=True, commit_sha=now.commit_sha)
    return task


def _new_questions(task: Task, now: Task, question_ids: set[str], iteration: int) -> list[Question]:
    """The questions that were added, without an answer, each with an id of its own; `question_ids` gets theirs."""
    ids = {question.id for question in task.questions}
    rows = [
        row
        for row in now.questions
        if row.id not in ids
        and row.text.strip()
        and not any(question.asks(row.text, row.options) for question in task.questions)
    ]
    new_questions = []
    for row in rows[:MAX_NEW_QUESTIONS]:
        is_free = ID.fullmatch(row.id) and row.id not in question_ids
        id = row.id if is_free else new_id(question_ids)
        question_ids.add(id)
        options = () if row.options in OF_SAMUEL else row.options
        new = replace(row, id=id, options=options, iteration=iteration, answer="", answered_at="")
        new_questions.append(new)
    return new_questions


def _added(
    rows: list[Task], ids_before: set[str], allowed_changes: AllowedChanges, put_back: list[str]
) -> Iterator[Task]:
    """New rows as `samuel run enqueue` would have added them: pending, with no attempt yet, and with no rights."""
    most = len(rows) if allowed_changes.max_new_tasks is None else allowed_changes.max_new_tasks
    allowed = rows[:most] if allowed_changes.adds else []
    put_back += (f"the new task `{row.id}` is left out" for row in rows[len(allowed) :])
    there = {*ids_before, *(row.id for row in allowed)}
    for row in allowed:
        task = Task(
            **{name: getattr(row, name) for name in OF_NEW_TASKS},
            source=allowed_changes.source,
            iteration=allowed_changes.iteration,
            parent_id=row.parent_id if row.parent_id in there else "",
            depends_on=tuple(id for id in row.depends_on if id in there),
        )
        if row.status != "pending" or any(getattr(row, name) for name in RIGHTS):
            put_back.append(_described(task, row))
        yield row if task == row else task


def _described(task: Task, now: Task | None) -> str:
    """How `now` differs from what the task is."""
    if now is None:
        return f"task `{task.id}` was removed"
    if task.claimed and now.status == "completed":
        return f"task `{task.id}` was marked completed without a check, which is a claim at most"
    names = [name for name in (*COLUMNS, "extra") if getattr(task, name) != getattr(now, name)]
    changes = [f"{name} was set to {getattr(now, name)}" for name in names if name in NAMED_COLUMNS]
    others = [name for name in names if name not in NAMED_COLUMNS]
    if others:
        changes.append(f"{', '.join(others)} {'was' if len(others) == 1 else 'were'} changed")
    return f"task `{task.id}`: {', '.join(changes)}"
