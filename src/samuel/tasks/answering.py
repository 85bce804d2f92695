"""The commands by which a person answers a question of a task."""

from __future__ import annotations

from samuel.base.printable import shell_word
from samuel.tasks.question import Question

LAND = "land"
"""The answer by which a person lets work land that a handler of `before:land` held back."""


def is_about_landing(question: Question) -> bool:
    """Whether it asks if work may land that is ready: then no agent has to work again."""
    return question.options == (LAND,)


def answer_command(task_id: str, question: Question) -> str:
    """The command line that answers the question."""
    if is_about_landing(question):
        return f"samuel run land {shell_word(task_id)}"
    return f"samuel run answer {shell_word(question.id)} TEXT"
