"""One question of an agent about its task, the answer of a person, and the command to give it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from samuel.base.printable import shell_word

LAND = "land"
"""The answer by which a person lets work land that a handler of `before:land` held back."""
ACCEPT, REFUSE = "accept", "refuse"
"""The answers to the question whether old tests may fail. What follows ACCEPT is who said it, REFUSE why."""
REVIEW_AGAIN = "review again"
"""The answer by which a person lets work be reviewed once more, after a reviewer gave no verdict."""
KEEP_TESTS, DROP_TESTS = "keep the acceptance tests", "drop the acceptance tests"
"""The answers to a worker who believes that an acceptance test is wrong."""
OF_SAMUEL = ((LAND,), (ACCEPT, REFUSE), (REVIEW_AGAIN, ACCEPT, REFUSE))
"""The options of Samuel's own questions. Those of an agent cannot have them: the answer would count for theirs."""
DISPUTED = "disputed: "
"""What `last_failure` of a task begins with while nothing happened since it was disputed."""
REVIEW_FAILED = "review_failed: "
REVIEW_UNAVAILABLE = "review_unavailable: "
"""The same for a task whose work a reviewer refused, or gave no verdict about."""
REJECTED = "rejected: "
"""What `last_failure` of a task begins with while nothing happened since a person rejected it."""
YES = ("yes", "y", "ok")
_CHOICE = re.compile(r"#?[0-9]+[.)]?|[a-z][.)]?(?<![yn])", re.IGNORECASE | re.ASCII)
ID = re.compile(r"q[1-9][0-9]{0,14}")


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A question in a task's row of prd.toon. It is open while it has no answer."""

    id: str
    """`q1`, `q2`, ...: unique in the task file."""
    text: str
    options: tuple[str, ...] = ()
    """Suggested answers; a person may give any other."""
    iteration: int = 0
    asked_at: str = ""
    answer: str = ""
    answered_at: str = ""

    @property
    def open(self) -> bool:
        return not self.answer

    def asks(self, text: str, options: Iterable[str]) -> bool:
        """Whether it is the same question; line breaks and blanks make no difference."""
        return self.text.split() == text.split() and self.options == tuple(options)

    def chosen(self, text: str) -> str:
        """The answer that `text` stands for: the number of an option is that option, anything else is itself.

        `yes` stands for the only option, where there is one.
        """
        answer = text.strip()
        if len(self.options) == 1 and answer.casefold() in YES:
            return self.options[0]
        if answer in self.options or not (answer.isascii() and answer.isdecimal()):
            return answer
        number = int(answer[:6])
        return self.options[number - 1] if 0 < number <= len(self.options) else answer

    def is_no_option(self, text: str) -> bool:
        """Whether `text` looks like the choice of an option that the question does not have: `9` or `c`.

        With other words it is an answer of its own, and so are `y` and `n`.
        """
        return bool(self.options) and text not in self.options and bool(_CHOICE.fullmatch(text))

    def plain(self) -> dict[str, Any]:
        """The question in event payloads and in `--json`, with every field."""
        return {**msgspec.structs.asdict(self), "options": list(self.options)}


def new_id(ids: Collection[str]) -> str:
    """The id after the highest of `ids`."""
    number = max((int(id[1:]) for id in ids if ID.fullmatch(id)), default=0) + 1
    while f"q{number}" in ids:  # one with more digits than `ID` allows
        number += 1
    return f"q{number}"


def is_about_landing(question: Question) -> bool:
    """Whether it asks if work may land that is ready: then no agent has to work again."""
    return question.options == (LAND,)


def is_dispute(question: Question) -> bool:
    """Whether it asks if work counts that old tests or a reviewer speak against, or that was not reviewed."""
    return question.options in ((ACCEPT, REFUSE), (REVIEW_AGAIN, ACCEPT, REFUSE))


def is_about_missing_review(question: Question) -> bool:
    """Whether it asks what to do with work about which a reviewer gave no verdict."""
    return question.options == (REVIEW_AGAIN, ACCEPT, REFUSE)


def is_about_acceptance(question: Question) -> bool:
    """Whether a worker disputes the acceptance tests of its task."""
    return question.options == (KEEP_TESTS, DROP_TESTS)


def answer_command(task_id: str, question: Question) -> str:
    """The command line that answers the question."""
    if is_about_landing(question):
        return f"samuel run land {shell_word(task_id)}"
    if is_about_missing_review(question):
        return f"samuel run answer {shell_word(question.id)} {shell_word(REVIEW_AGAIN)}"
    if is_dispute(question):
        return f"samuel run accept {shell_word(task_id)}"
    return f"samuel run answer {shell_word(question.id)} TEXT"
