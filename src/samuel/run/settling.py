"""What the result of an attempt means for the tasks and for what the run counts: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.events.endings import IterationOutcome
from samuel.history.run import MAX_FAILURE, AttemptUnderWay, LanesState, Run, Settlement, TaskCells
from samuel.history.tree_state import KeptAttempt
from samuel.tasks.changes import new_task_id
from samuel.tasks.question import Question, new_id
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.settle import AppliedSettlement

MOST_GREEN = 64


class Settled(NamedTuple):
    """A task that is no longer under way, and what was decided about it."""

    record: AttemptUnderWay
    settlement: Settlement
    applied: AppliedSettlement


def settled_in_lane(record: AttemptUnderWay) -> Settled:
    """A task of which nothing lands: what its attempt left in its lane is in a ref already."""
    assert record.result is not None
    settlement = record.result.settlement
    ref = settlement.record.ref if settlement.record else ""
    return Settled(record, settlement, AppliedSettlement(ref=ref))


def with_results(tasks: Tasks, settled: Sequence[Settled]) -> list[Task]:
    """The task list after these settlements. Idempotent."""
    rows = list(tasks)
    for record, settlement, applied in settled:
        result = record.result
        for index, row in enumerate(rows):
            if row.id != record.task or row.status != "in_progress":
                continue  # a person decided about it meanwhile
            row = result.cells.applied_to(row) if result else row
            row = settlement.row.applied_to(row)
            questions = _with_own_ids(row.questions, [*rows[:index], *rows[index + 1 :]])
            rows[index] = replace(
                row, commit_sha=applied.commit or row.commit_sha, claimed=False, questions=questions
            )
        rows += _added(rows, result.added if result else ())
    return rows


def _with_own_ids(questions: Sequence[Question], others: Sequence[Task]) -> tuple[Question, ...]:
    """The questions of a task with ids that no other task has: in its lane, an agent sees no newer questions."""
    taken = {question.id for row in others for question in row.questions}
    numbered: list[Question] = []
    for question in questions:
        if question.id in taken:
            own = {other.id for other in (*questions, *numbered)}
            question = replace(question, id=new_id(taken | own))
        numbered.append(question)
    return tuple(numbered)


def question_in(task: Task | None, question: Question | None) -> Question | None:
    """A question of a settlement as the task has it, whose id may be another one."""
    if task is None or question is None:
        return question
    same = (
        row
        for row in reversed(task.questions)
        if row.iteration == question.iteration and row.asks(question.text, question.options)
    )
    return next(same, question)


def _added(rows: Sequence[Task], added: Sequence[Task]) -> list[Task]:
    """The tasks that an agent added, with ids that are new here; one that is there already is left out."""
    names: dict[str, str] = {}
    new: list[Task] = []
    there = {(row.title, row.iteration, row.source): row.id for row in rows}
    for task in added:
        key = (task.title, task.iteration, task.source)
        if key in there:
            names[task.id] = there[key]
            continue
        names[task.id] = new_task_id((*rows, *new))
        needed = tuple(names.get(id, id) for id in task.depends_on)
        new.append(replace(task, id=names[task.id], depends_on=needed, status="pending", claimed=False))
    return new


def counted(run: Run, settled: Sequence[Settled]) -> Run:
    """The run after these settlements: each is counted, and waits to be announced."""
    for record, settlement, _ in settled:
        run = run.settled(record, settlement)
        if record.lane is UNSET or run.lanes is UNSET or not settlement.task_id:  # a discovery is about no task
            continue
        run = replace(run, lanes=replace(run.lanes, conflicts=_conflicts(run.lanes, record, settlement)))
        last = record.tree.attempts.get(record.task)
        if settlement.outcome is IterationOutcome.COMPLETED:
            run = with_kept(run, record.task, None)
        elif last is not None and not (record.result and record.result.work):
            run = with_kept(run, record.task, last)
    return run


def landed(run: Run, commit: str, tree: str, count: int) -> Run:
    """The run after so many tasks landed with a commit of this tree, on which the checks passed."""
    assert run.lanes is not UNSET
    lanes = run.lanes
    green = with_green(lanes, tree)
    return replace(run, lanes=replace(lanes, tip=commit, landing=None, green=green, landed=lanes.landed + count))


def with_green(lanes: LanesState, tree: str) -> tuple[str, ...]:
    """The trees on which the checks passed, with one more."""
    return tuple(dict.fromkeys((*lanes.green, tree)))[-MOST_GREEN:]


def _conflicts(lanes: LanesState, record: AttemptUnderWay, settlement: Settlement) -> dict[str, int]:
    if settlement.outcome is IterationOutcome.CONFLICT:
        return {**lanes.conflicts, record.task: lanes.conflicts.get(record.task, 0) + 1}
    if settlement.outcome is IterationOutcome.COMPLETED:
        return {task: count for task, count in lanes.conflicts.items() if task != record.task}
    return lanes.conflicts


def refused(
    record: AttemptUnderWay,
    task: Task,
    outcome: IterationOutcome,
    why: str,
    ref: str,
    max_attempts: int,
) -> Settlement:
    """The settlement of work that was ready and does not land: its attempt failed after all."""
    assert record.result is not None
    before, attempts = record.result.settlement, task.attempts + 1
    # A task that only did not fit is worked on alone before it is given up.
    blocked = attempts >= max_attempts and (outcome is not IterationOutcome.CONFLICT or record.exclusive)
    row = TaskCells(
        status="blocked" if blocked else "pending",
        claimed=False,
        attempts=attempts,
        iteration=record.iteration,
        last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
    )
    attempt = before.record
    if attempt is not None:
        attempt = replace(attempt, outcome=outcome, why=why, ref=ref, grade="", predicate={})
    return replace(
        before, outcome=outcome, failed=True, row=row, gave_up=blocked, commit=None, tree="keep", record=attempt
    )


def parked(task: Task, question: Question) -> Task:
    """The task that waits for a person to agree to its landing."""
    return replace(task, status="waiting", claimed=False, questions=(*task.questions, question))


def with_kept(run: Run, task: str, last: KeptAttempt | None) -> Run:
    """The run with what the last attempt at a task left; None for a task that is done."""
    attempts = {id: attempt for id, attempt in run.tree.attempts.items() if id != task}
    if last is not None:
        attempts[task] = last
    return replace(run, tree=replace(run.tree, attempts=attempts))


def without(run: Run, tasks: Sequence[str]) -> Run:
    """The run after these tasks came to no decision: what their lanes were left with is not lost."""
    for task in tasks:
        if last := run.active[task].tree.attempts.get(task):
            run = with_kept(run, task, last)
    return run.without(*tasks)
