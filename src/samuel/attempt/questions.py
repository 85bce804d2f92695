"""What the loop does with a question of an agent: whether there is one, and how `after:iteration` reports it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from samuel.events.loop import AskedQuestion
from samuel.tasks.question import Question
from samuel.tasks.task import Task


def new_question(before: Task, now: Task | None) -> Question | None:
    """The last question that the agent asked, comparing its task from before with the task now; None without one.

    A task whose question a person answered while the agent was still at work is pending, not waiting: its agent
    asked all the same, and the next one has the answer.
    """
    if now is None or now.status not in ("waiting", "pending"):
        return None
    ids = {question.id for question in before.questions}
    return next((question for question in reversed(now.questions) if question.id not in ids), None)


def asked_question(question: Question | None) -> AskedQuestion | UnsetType:
    """The field `question` of `after:iteration`."""
    if question is None:
        return UNSET
    return AskedQuestion(id=question.id, text=question.text, options=list(question.options))
