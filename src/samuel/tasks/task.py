"""One task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import msgspec

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.tasks.grade import Grade
from samuel.tasks.question import (
    ACCEPT,
    DISPUTED,
    DROP_TESTS,
    REFUSE,
    REJECTED,
    REVIEW_AGAIN,
    REVIEW_FAILED,
    REVIEW_UNAVAILABLE,
    Question,
    is_about_acceptance,
    is_dispute,
)

TaskStatus = Literal["pending", "in_progress", "completed", "skipped", "blocked", "waiting"]
Priority = Literal["critical", "high", "medium", "low"]

STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
PRIORITIES: tuple[Priority, ...] = get_args(Priority)  # the first is the most urgent
KINDS = ("fix", "feature", "refactor", "docs", "chore", "perf", "test")
PROOFS = ("require", "none")
ACCEPTANCE_TESTS = ("agent", "none")


class Task(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One row of prd.toon. A missing text is "", never None, so that callers have one case to handle.

    A task refers to no other object that could refer to it, so the garbage collector need not look at it.
    """

    id: str
    title: str
    description: str = ""
    status: TaskStatus = "pending"
    priority: Priority = "medium"
    complexity: str = "medium"  # a free word: simple, medium, complex, ...
    parent_id: str = ""
    depends_on: tuple[str, ...] = ()
    files_to_create: tuple[str, ...] = ()
    files_to_modify: tuple[str, ...] = ()
    guardrails: tuple[str, ...] = ()
    completed_at: str = ""
    commit_sha: str = ""
    iteration: int = 0  # the one that worked on it last, or that found it; 0 is none
    source: str = "prd"  # who brought it: prd, user, agent, discovery
    claimed: bool = False  # the agent says it is done; the quality checks have not said so yet
    attempts: int = 0
    last_failure: str = ""  # why the last attempt failed, or why it was skipped or blocked
    grade: Grade = ""  # how far it is shown that a completed task was done
    reviewed: str = ""  # what a reviewer said of a completed task; "" if none was asked
    kind: str = ""  # fix, feature, refactor, docs, chore, perf or test; "": its title decides
    proof: str = ""  # `require` or `none`, where its author knows what can be shown
    acceptance_tests: str = ""  # `agent` or `none`: whether an agent writes tests for it before the work
    sent_back: tuple[str, ...] = ()  # why claims went back: `unproven`, or the old tests that failed
    checks: tuple[str, ...] = ()  # commands of its own, run after the project's checks
    no_change: bool = False  # it can be done without changing a file
    acceptance: tuple[str, ...] = ()  # what must be true when it is done, as its author wrote it
    test_strategy: str = ""  # how to verify it, as its author wrote it
    rank: int = 0  # among tasks of the same priority, a lower number comes first
    questions: tuple[Question, ...] = ()  # of its agents; with an open one the task is `waiting`
    extra: dict[str, Any] = {}  # columns that Samuel does not know; they survive a save

    @property
    def open_questions(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.open)

    @property
    def reason(self) -> str:
        """Why it is not done: its open question, or why the last attempt failed or it was skipped or blocked."""
        return next((question.text for question in self.open_questions), self.last_failure)

    @property
    def accepted_by(self) -> str:
        """Who accepted its last attempt although old tests fail with it, or no reviewer accepted it; "" for none.

        An acceptance holds for that attempt alone: where its checks fail by now, an agent works on the task again.
        """
        word, _, name = self._verdict.partition(" ")
        return (name or "a person") if word == ACCEPT else ""

    @property
    def review_waived_by(self) -> str:
        """The person who accepted its last attempt though no reviewer did; "" for none."""
        return self.accepted_by if self.last_failure.startswith((REVIEW_FAILED, REVIEW_UNAVAILABLE)) else ""

    @property
    def takes_last_attempt(self) -> bool:
        """Whether what its last attempt left is judged again, without an agent that works on it."""
        return bool(self.accepted_by) or self._verdict == REVIEW_AGAIN

    @property
    def acceptance_dropped(self) -> bool:
        """Whether a person dropped its acceptance tests: then the work goes on without them."""
        answers = [question.answer for question in self.questions if is_about_acceptance(question)]
        return DROP_TESTS in answers

    @property
    def is_refused(self) -> bool:
        """Whether a person refused its last attempt: the next one begins without its files."""
        return self._verdict.split(" ")[0] == REFUSE or self.last_failure.startswith(REJECTED)

    @property
    def _verdict(self) -> str:
        """What a person answered to the dispute about its last attempt; "" if there is no such answer."""
        last = self.questions[-1] if self.questions else None
        reasons = (DISPUTED, REVIEW_FAILED, REVIEW_UNAVAILABLE)
        is_open = last is not None and is_dispute(last) and self.last_failure.startswith(reasons)
        return last.answer if last is not None and is_open else ""

    def plain(self) -> dict[str, Any]:
        """The task in event payloads and in `--json`: its own fields, and the unknown columns beside them."""
        fields = {name: getattr(self, name) for name in COLUMNS}
        lists = {name: list(fields[name]) for name in LISTS}
        return {**fields, **lists, QUESTIONS: [question.plain() for question in self.questions], **self.extra}


COLUMNS = tuple(name for name in Task.__struct_fields__ if name != "extra")
QUESTIONS = "questions"
LISTS = ("depends_on", "files_to_create", "files_to_modify", "guardrails", "sent_back", "checks", "acceptance")
RARE_COLUMNS = (
    "grade",
    "reviewed",
    "kind",
    "proof",
    "acceptance_tests",
    "sent_back",
    "checks",
    "no_change",
    "acceptance",
    "test_strategy",
    "rank",
    QUESTIONS,
)

Tasks = Sequence[Task]


def find(tasks: Iterable[Task], id: str) -> Task:
    ids = []
    for task in tasks:
        if task.id == id:
            return task
        ids.append(task.id)
    raise UsageError(f"there is no task `{id}`", did_you_mean(id, ids, "`samuel run tasks` lists them"))


def natural(id: str) -> tuple[object, ...]:
    """A sort key by which 2 comes before 10, and 1.2 before 1.10."""
    words = re.split(r"([0-9]+)", id)  # text and digits take turns, so like is always compared with like
    # A number without its zeros sorts by length first. int() would do the same, and refuse very long ones.
    numbers = [(len(number), number) for number in (digits.lstrip("0") for digits in words[1::2])]
    mixed: list[object] = [*words]
    mixed[1::2] = numbers
    return (*mixed, id)
