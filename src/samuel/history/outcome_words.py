"""The outcomes of attempts and the statuses of tasks in words."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.events.endings import IterationOutcome
from samuel.history.attempt_record import AttemptRecord
from samuel.tasks.task import Task

NOTHING_GREEN = "the checks failed before it, and it turned nothing green"
"""Why a task is unverified although checks ran."""

OUTCOMES: Mapping[IterationOutcome, tuple[str, str]] = {
    IterationOutcome.COMPLETED: ("completed", "good"),
    IterationOutcome.INCOMPLETE: ("not finished", "warn"),
    IterationOutcome.QUALITY_FAILED: ("checks failed", "bad"),
    IterationOutcome.UNPROVEN: ("sent back: unproven", "warn"),
    IterationOutcome.DISPUTED: ("disputed", "ask"),
    IterationOutcome.REVIEW_FAILED: ("review refused", "bad"),
    IterationOutcome.REVIEW_UNAVAILABLE: ("no review", "ask"),
    IterationOutcome.AGENT_FAILED: ("agent failed", "bad"),
    IterationOutcome.LIMITED: ("usage limit", "wait"),
    IterationOutcome.UNAVAILABLE: ("agent unavailable", "wait"),
    IterationOutcome.OVER_BUDGET: ("over budget", "wait"),
    IterationOutcome.RESTARTED: ("restarted", "idle"),
    IterationOutcome.ASKED: ("asked a question", "ask"),
    IterationOutcome.STALLED: ("nothing changed", "warn"),
    IterationOutcome.CONFLICT: ("conflict", "warn"),
    IterationOutcome.ABORTED: ("aborted", "idle"),
    IterationOutcome.GATED: ("ended by the gate", "idle"),
}
"""Each outcome in words, and how good it is; a stylesheet has a colour for each."""


DECIDED: Mapping[str, tuple[str, str]] = {
    "skipped": ("skipped by the agent", "idle"),
    "blocked": ("blocked by the agent", "bad"),
}
"""The same for an attempt whose agent decided not to do its task."""


def outcome_words(attempt: AttemptRecord) -> str:
    return _words_and_tone(attempt)[0]


def outcome_tone(attempt: AttemptRecord) -> str:
    return _words_and_tone(attempt)[1]


def _words_and_tone(attempt: AttemptRecord) -> tuple[str, str]:
    if attempt.mode == "acceptance" and attempt.outcome is IterationOutcome.INCOMPLETE:
        is_locked = attempt.acceptance is not None and not attempt.acceptance.why
        return ("wrote acceptance tests", "idle") if is_locked else ("no acceptance tests", "warn")
    return DECIDED.get(attempt.decided, OUTCOMES[attempt.outcome])


def status_words(task: Task) -> str:
    """The status of a task as a person reads it: of a completed task, its grade."""
    if task.status != "completed":
        return task.status.replace("_", " ")
    return task.grade or "completed"
