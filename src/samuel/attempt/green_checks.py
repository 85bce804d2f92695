"""Saying which checks of a task pass before any work, and before an agent is paid: they prove nothing."""

from __future__ import annotations

from contextlib import suppress

from samuel.attempt.attempt_checks import AttemptChecks
from samuel.attempt.workplace import Workplace
from samuel.events import QualityCheck
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.claim import passes_before
from samuel.evidence.room import CleanRoom
from samuel.history.run import Run
from samuel.tasks.task import Task


def tell_green_checks(
    place: Workplace, checks: AttemptChecks, room: CleanRoom | None, run: Run, task: Task
) -> None:
    """Run the task's own checks on the verified tree, at its first attempt, and warn of those that pass."""
    if not task.checks or task.attempts or task.sent_back:
        return
    if room is None or not run.tree.verified or (task.proof or place.settings.proof) == "off":
        return
    event = QualityCheck(
        commands=list(task.checks),
        task=task.plain(),
        project_root=str(place.root),
        deadline_ms=int(place.check_seconds * 1000),
        run_id=run.run_id,
        methodology=run.methodology,
        iteration=run.iteration,
        mode=run.mode,
    )
    with suppress(RoomFailed), room.showing(run.tree.verified):  # a room that fails is named with the attempt
        if green := checks.before_work(event):
            place.warn(f"task {task.id}: {passes_before(green)}")
