"""The record of an attempt as a commit: it reaches the remote in the same push as the work that it is about."""

from __future__ import annotations

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.events.endings import IterationOutcome
from samuel.git.git import Git
from samuel.history.attempt_record import AttemptRecord
from samuel.history.run import AttemptResult, AttemptUnderWay, Run, Settlement, TaskCells
from samuel.tasks.task import Task
from samuel.workspaces.fleet.wire import ResultLine


def record_message(line: ResultLine) -> str:
    """The message of the commit that carries a record."""
    title = f"samuel: record of attempt {line.attempt} at task {' '.join(line.task.split())}"
    return f"{title}\n\n{msgspec.json.encode(line).decode()}\n"


def read_record(git: Git, commit: str) -> ResultLine:
    """The record that a commit carries. Raises SamuelError if it carries none."""
    content = git.run("cat-file", "commit", commit)
    message = content.partition(b"\n\n")[2]
    try:
        return decode_json(message.partition(b"\n\n")[2], ResultLine)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SamuelError(f"the commit {commit[:12]} carries no record of an attempt: {error}") from None


def claims_completion(result: AttemptResult) -> bool:
    """Whether a result says that its task is completed."""
    settlement = result.settlement
    statuses = (settlement.row.status, result.cells.status)
    return settlement.outcome is IterationOutcome.COMPLETED or "completed" in statuses


def restarted(run: Run, task: Task, record: AttemptUnderWay, now: float) -> AttemptResult:
    """The result of an attempt that was ended so that it starts again: its machine handed nothing over."""
    outcome = IterationOutcome.RESTARTED
    entry = AttemptRecord(
        run_id=run.run_id,
        iteration=record.iteration,
        mode=record.mode,
        task_id=task.id,
        title=task.title,
        attempt=record.attempt,
        agent=record.agent,
        started_at=record.started_at,
        ended_at=now,
        outcome=outcome,
        why="a person said something to it",
        lane=record.lane,
        machine=record.machine,
        guidance=record.guidance,
    )
    settlement = Settlement(
        outcome,
        failed=False,
        task_id=task.id,
        row=TaskCells(status="pending", claimed=False),
        agent=record.agent,
        attempt=record.attempt,
        record=entry,
    )
    return AttemptResult(settlement=settlement, mode=record.mode)
