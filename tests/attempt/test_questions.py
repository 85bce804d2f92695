"""Whether the agent of an iteration asked something, and what `after:iteration` says of it."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.questions import asked_question, new_question
from samuel.events.loop import AskedQuestion
from samuel.tasks.question import Question
from samuel.tasks.task import Task

OLD = Question(id="q1", text="Which?", answer="this")
NEW = Question(id="q2", text="Why?", options=("a", "b"))
BEFORE = Task(id="1", title="One", status="in_progress", questions=(OLD,))


@pytest.mark.parametrize(
    ("status", "question"), [("waiting", NEW), ("pending", replace(NEW, answer="a"))], ids=["open", "answered"]
)
def test_a_task_that_came_back_with_a_question_was_asked_about(status: str, question: Question) -> None:
    now = replace(BEFORE, status=status, questions=(OLD, question))  # type: ignore[arg-type]
    assert new_question(BEFORE, now) == question


@pytest.mark.parametrize("status", ["in_progress", "skipped", "blocked", "pending"])
def test_any_other_task_was_not(status: str) -> None:
    assert new_question(BEFORE, replace(BEFORE, status=status)) is None  # type: ignore[arg-type]
    assert new_question(BEFORE, None) is None


def test_after_iteration_has_the_question_without_its_answer() -> None:
    assert asked_question(NEW) == AskedQuestion(id="q2", text="Why?", options=["a", "b"])
    assert asked_question(None) is UNSET
