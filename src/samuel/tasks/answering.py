"""The questions that Samuel itself asks about a task, and the commands by which a person answers any."""

from __future__ import annotations

from samuel.base.printable import shell_word
from samuel.tasks.question import Question
from samuel.tasks.task import Task

LAND = "land"
"""The answer by which a person lets work land that a handler of `before:land` held back."""

ACCEPT, REFUSE = "accept", "refuse"
"""The answers to the question whether old tests may fail. What follows ACCEPT is who said it, REFUSE why."""


OF_SAMUEL = ((LAND,), (ACCEPT, REFUSE))
"""The options of Samuel's own questions. An agent's question cannot have them: its answer would mean more."""

DISPUTED = "disputed: "
"""What `last_failure` of a task begins with while nothing happened since it was disputed."""


def is_about_landing(question: Question) -> bool:
    """Whether it asks if work may land that is ready: then no agent has to work again."""
    return question.options == (LAND,)


def is_dispute(question: Question) -> bool:
    """Whether it asks if old tests may fail with the work on a task."""
    return question.options == (ACCEPT, REFUSE)


def accepted_by(task: Task) -> str:
    """Who accepted the last attempt at the task although old tests fail with it; "" if none did.

    An acceptance holds for that attempt alone: where its checks fail by now, an agent works on the task again.
    """
    last = task.questions[-1] if task.questions else None
    if last is None or not is_dispute(last) or not task.last_failure.startswith(DISPUTED):
        return ""
    word, _, who = last.answer.partition(" ")
    return (who or "a person") if word == ACCEPT else ""


def answer_command(task_id: str, question: Question) -> str:
    """The command line that answers the question."""
    if is_about_landing(question):
        return f"samuel run land {shell_word(task_id)}"
    if is_dispute(question):
        return f"samuel run accept {shell_word(task_id)}"
    return f"samuel run answer {shell_word(question.id)} TEXT"
