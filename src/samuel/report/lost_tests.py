"""Tests that ran before a completed task and do not run since: what each person who looks at a run must see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from samuel.base.printable import listed
from samuel.events.endings import IterationOutcome
from samuel.history.attempt_record import AttemptRecord

MOST_NAMED = 3


def lost_tests(attempts: Iterable[AttemptRecord]) -> dict[str, tuple[str, ...]]:
    """By id of a completed task: the tests that its work removed, skipped or emptied."""
    completed = (attempt for attempt in attempts if attempt.outcome is IterationOutcome.COMPLETED)
    return {attempt.task_id: attempt.lost_tests for attempt in completed if attempt.lost_tests}


def lost_tests_words(tests: Sequence[str], most: int = MOST_NAMED) -> str:
    """`2 tests ran before and do not run now: a, b`."""
    many = f"{len(tests)} tests ran before and do" if len(tests) > 1 else "1 test ran before and does"
    return f"{many} not run now: {listed(tests, most)}"
