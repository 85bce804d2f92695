"""What a result of a lane means for the tasks and for what the run counts: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from samuel.events.endings import IterationOutcome
from samuel.history.attempts import KeptAttempt
from samuel.history.run import MAX_FAILURE, LaneRecord, LanesState, Run, Settlement, TaskCells
from samuel.run.shared_limits import merged_wait
from samuel.tasks.changes import new_task_id
from samuel.tasks.question import Question
from samuel.tasks.task import Task, Tasks

MOST_GREEN = 64


class Settled(NamedTuple):
    """A task that is no longer under way, and what was decided about it."""

    record: LaneRecord
    settlement: Settlement
    commit: str = ""
    probe: bool = False


def with_results(tasks: Tasks, settled: Sequence[Settled]) -> list[Task]:
    """The task list after these settlements. Idempotent."""
    rows = list(tasks)
    for record, settlement, commit, _ in settled:
        result = record.result
        for index, row in enumerate(rows):
            if row.id != record.task or row.status != "in_progress":
                continue  # a person decided about it meanwhile
            row = result.cells.applied_to(row) if result else row
            row = settlement.row.applied_to(row)
            rows[index] = replace(row, commit_sha=commit or row.commit_sha, claimed=False)
        rows += _added(rows, result.added if result else ())
    return rows


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


def counted(run: Run, lanes: LanesState, settled: Sequence[Settled], *, landed: bool) -> Run:
    """The run after these settlements: each is counted, and waits to be announced."""
    for record, settlement, _, probe in settled:
        mode = record.result.mode if record.result else "implementation"
        wait = settlement.wait
        if wait is not None:
            wait = merged_wait(run.waits.get(settlement.agent), wait, probe=probe)
        waits, iteration = run.waits, run.iteration
        run = replace(run, mode=mode, settlement=replace(settlement, wait=wait)).settled()
        if wait is None and not probe and settlement.agent in waits:  # it began before the trouble did
            run = replace(run, waits={**run.waits, settlement.agent: waits[settlement.agent]})
        run = replace(run, unannounced=None, iteration=iteration, mode="implementation")
        lanes = replace(
            lanes,
            active={task: other for task, other in lanes.active.items() if task != record.task},
            unannounced=(*lanes.unannounced, (record.lane, record.iteration, mode, settlement)),
            conflicts=_conflicts(lanes, record, settlement),
            landed=lanes.landed + landed,
        )
    return replace(run, lanes=lanes, working=bool(lanes.active))


def _conflicts(lanes: LanesState, record: LaneRecord, settlement: Settlement) -> dict[str, int]:
    if settlement.outcome is IterationOutcome.CONFLICT:
        return {**lanes.conflicts, record.task: lanes.conflicts.get(record.task, 0) + 1}
    if settlement.outcome is IterationOutcome.COMPLETED:
        return {task: count for task, count in lanes.conflicts.items() if task != record.task}
    return lanes.conflicts


def refused(
    record: LaneRecord,
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
    attempt = replace(before.record, outcome=outcome, why=why, ref=ref, verified="") if before.record else None
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
