"""Whether the next agent at a task writes its acceptance tests."""

from __future__ import annotations

from collections.abc import Sequence

from samuel.attempt.workplace import Workplace
from samuel.evidence.task_kind import task_kind
from samuel.history.acceptance_tests import AcceptanceMemory, text_digest
from samuel.tasks.task import Task

WITHOUT_TESTS = ("docs", "chore", "refactor")
"""Kinds of tasks for which no test could fail before the work and pass with it."""
MOST_TRIES = 2

NO_CHECKS = "`quality_checks` is empty, so nothing would run them"
NO_GIT = "the project is in no git repository"


def wants_acceptance(place: Workplace, task: Task) -> bool:
    """Whether acceptance tests are to be written for the task: its own line decides, else the setting."""
    if task.no_change or task_kind(task.kind, task.title) in WITHOUT_TESTS:
        return False
    return (task.acceptance_tests or place.settings.acceptance) == "agent"


def why_impossible(place: Workplace) -> str:
    """Why no acceptance tests can be written in this project; "" if they can."""
    if not place.git.is_repository:
        return NO_GIT
    return "" if place.settings.quality_checks else NO_CHECKS


def is_due(place: Workplace, task: Task, memory: AcceptanceMemory) -> bool:
    """Whether the next agent at the task writes its acceptance tests; it is asked once more if it failed."""
    if not wants_acceptance(place, task) or why_impossible(place):
        return False
    if task.acceptance_dropped or task.takes_last_attempt:
        return False
    tests = memory.get(task.id)
    if tests is None or tests.text != text_digest(task):
        return True
    return not tests.is_locked and tests.tries < MOST_TRIES


def authors(agents: Sequence[str]) -> tuple[str, ...]:
    """The agents in the order in which they are asked for acceptance tests: the second one first."""
    return (*agents[1:], *agents[:1])
