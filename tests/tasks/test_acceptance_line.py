"""The line of a task that says whether an agent writes tests before the work, and the words of its dispute."""

from __future__ import annotations

import pytest

from samuel.base.errors import SamuelError, UsageError
from samuel.tasks.annotations import body
from samuel.tasks.changes import answer
from samuel.tasks.question import DROP_TESTS, KEEP_TESTS
from samuel.tasks.rights import Asker, asker
from samuel.tasks.task import Task

TASKS = (Task(id="1", title="One", status="in_progress", claimed=True),)
WORKER = Asker("agent", "run-1", task_id="1", acceptance_tests=2)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Acceptance: agent", "agent"),
        ("- **Acceptance tests:** none", "none"),
        ("Acceptance: `agent`.", "agent"),
        ("Acceptance: agent tests it", None),
        ("Acceptance: the page loads", None),
        ("Acceptance:", None),
    ],
)
def test_line_with_one_known_word_decides_and_any_other_is_text(line: str, value: str | None) -> None:
    text, fields = body([(line, False)])
    assert fields.get("acceptance_tests") == value
    assert (text == [line]) == (value is None)


def test_dispute_parks_the_task_and_takes_its_claim_back() -> None:
    (task,) = WORKER.dispute(TASKS, " the test is wrong ", at="now")
    assert (task.status, task.claimed) == ("waiting", False)
    (question,) = task.open_questions
    assert question.text == "are the acceptance tests of this task right? the test is wrong"
    assert not task.acceptance_dropped


@pytest.mark.parametrize(
    ("text", "is_dropped"), [("1", False), ("2", True), (KEEP_TESTS, False), (DROP_TESTS, True), ("ask Jo", False)]
)
def test_only_a_person_who_says_so_drops_the_tests(text: str, is_dropped: bool) -> None:
    (task,) = answer(WORKER.dispute(TASKS, "wrong", at=""), "q1", text=text)
    assert (task.status, task.acceptance_dropped) == ("pending", is_dropped)


def test_dispute_needs_a_reason_a_run_and_acceptance_tests() -> None:
    with pytest.raises(UsageError, match="the reason is empty"):
        WORKER.dispute(TASKS, " ", at="")
    with pytest.raises(SamuelError, match="not inside a run"):
        Asker("person").dispute(TASKS, "wrong", at="")
    with pytest.raises(SamuelError, match="has no acceptance tests"):
        Asker("agent", "run-1", task_id="1", acceptance_tests=0).dispute(TASKS, "wrong", at="")
    with pytest.raises(SamuelError, match="is a check of the run"):
        Asker("check", "run-1").dispute(TASKS, "wrong", at="")


def test_agent_in_the_mode_acceptance_can_report_nothing_about_its_task() -> None:
    author = asker({"SAMUEL_RUN_ID": "run-1", "SAMUEL_MODE": "acceptance", "SAMUEL_TASK_ID": "1"})
    for request in (
        lambda: author.done(TASKS, "1", at="", commit=""),
        lambda: author.skip(TASKS, "1", reason="no"),
        lambda: author.block(TASKS, "1", reason="no"),
        lambda: author.ask(TASKS, "why", options=(), at=""),
        lambda: author.dispute(TASKS, "why", at=""),
        lambda: author.enqueue(TASKS, "more", priority="low", complexity="simple", depends_on=()),
    ):
        with pytest.raises(SamuelError, match="while its acceptance tests are written"):
            request()
