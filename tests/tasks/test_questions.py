"""Questions of agents in the task list: asked, answered by a person, and kept by the task file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.tasks import changes
from samuel.tasks.prd_file import decode, encode
from samuel.tasks.question import Question, new_id
from samuel.tasks.queue import next_task, remaining, stuck
from samuel.tasks.rights import Asker
from samuel.tasks.seal import Seal
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks

WORKING = (Task(id="1", title="One", status="in_progress"), Task(id="2", title="Two", depends_on=("1",)))
AGENT = Asker("agent", run="run-7", task_id="1", iteration=4)


def with_question(text: str = "Which format?", *options: str, tasks: Tasks = WORKING) -> tuple[Task, ...]:
    return AGENT.ask(tasks, text, options=options, at="10:00")


def answered(text: str = "json") -> tuple[Task, ...]:
    return changes.answer(with_question(), "q1", text=text, at="11:00")


class TestAskingAndAnswering:
    def test_an_agent_parks_its_task_with_a_question(self) -> None:
        task = with_question("Which format?", "json", "toon")[0]
        question = Question(id="q1", text="Which format?", options=("json", "toon"), iteration=4, asked_at="10:00")
        assert (task.status, task.questions) == ("waiting", (question,))

    def test_the_last_answer_makes_the_task_pending_again(self) -> None:
        two = with_question("And which name?", tasks=with_question())
        assert [question.id for question in two[0].questions] == ["q1", "q2"]
        half = changes.answer(two, "q2", text="samuel")
        assert half[0].status == "waiting"
        whole = changes.answer(half, "1", text=" json ")  # the task has one open question left
        assert (whole[0].status, [question.answer for question in whole[0].questions]) == (
            "pending",
            ["json", "samuel"],
        )

    @pytest.mark.parametrize(
        ("text", "answer"),
        [("2", "toon"), ("toon", "toon"), ("7 of them", "7 of them"), ("yaml, please", "yaml, please")],
    )
    def test_the_number_of_an_option_stands_for_it_and_any_other_text_for_itself(
        self, text: str, answer: str
    ) -> None:
        after = changes.answer(with_question("Which?", "json", "toon"), "q1", text=text)
        assert after[0].questions[0].answer == answer

    def test_an_option_that_is_a_number_is_that_number(self) -> None:
        after = changes.answer(with_question("How many?", "2", "1"), "q1", text="2")
        assert after[0].questions[0].answer == "2"

    def test_an_answered_question_is_not_asked_again(self) -> None:
        again = changes.begin(answered(), "1", iteration=5)
        assert with_question("Which  format?\n", tasks=again) == again
        assert (
            with_question("Which format?", "json", tasks=again)[0].status == "waiting"
        )  # with options it is another

    def test_the_same_open_question_is_asked_once(self) -> None:
        assert with_question(tasks=with_question()) == with_question()

    def test_ids_are_unique_in_the_whole_list(self) -> None:
        both = (*with_question(), Task(id="3", title="Three", status="in_progress"))
        assert (
            Asker("agent", run="r", task_id="3").ask(both, "What?", options=(), at="")[2].questions[0].id == "q2"
        )
        assert new_id({"q999999999999999", "q1000000000000000"}) == "q1000000000000001"

    @pytest.mark.parametrize(
        ("id", "message"),
        [
            ("q9", "there is no question `q9`"),
            ("2", "task `2` has no open question"),
        ],
    )
    def test_of_a_question_that_is_not_there(self, id: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            changes.answer(with_question(), id, text="x")

    def test_only_what_has_an_open_question_is_suggested_for_a_wrong_id(self) -> None:
        listed = "`samuel run questions` lists the open ones"
        with pytest.raises(UsageError) as caught:
            changes.answer((Task(id="1", title="One"),), "q1", text="x")
        assert caught.value.hint == listed
        with pytest.raises(UsageError) as caught:
            changes.answer(with_question(), "q11", text="x")
        assert caught.value.hint == "did you mean `q1`?"

    def test_a_task_with_two_open_questions_needs_the_id_of_one(self) -> None:
        with pytest.raises(UsageError) as caught:
            changes.answer(with_question("More?", tasks=with_question()), "1", text="x")
        assert caught.value.hint == "name one of them: `q1`, `q2`"

    def test_an_answer_is_given_once_and_not_empty(self) -> None:
        with pytest.raises(SamuelError, match="question `q1` was answered already: json"):
            changes.answer(answered(), "q1", text="toon")
        with pytest.raises(UsageError, match="the answer is empty"):
            changes.answer(with_question(), "q1", text=" \n")

    @pytest.mark.parametrize(("text", "options"), [(" ", ()), ("Which?", (" ",))])
    def test_an_empty_question_or_option_is_refused(self, text: str, options: tuple[str, ...]) -> None:
        with pytest.raises(UsageError, match="is empty"):
            with_question(text, *options)

    @pytest.mark.parametrize(
        ("change", "arguments"),
        [
            (changes.reset, {}),
            (changes.skip, {"reason": "no"}),
            (changes.block, {"reason": "no"}),
            (changes.complete, {"at": "now"}),
        ],
    )
    def test_what_ends_the_waiting_otherwise_withdraws_open_questions_and_keeps_answers(
        self, change: Any, arguments: dict[str, str]
    ) -> None:
        waiting = with_question("More?", tasks=changes.begin(answered(), "1", iteration=5))
        assert [question.id for question in change(waiting, "1", **arguments)[0].questions] == ["q1"]


class TestWhoMayAskAndAnswer:
    def test_a_person_cannot_ask(self) -> None:
        with pytest.raises(SamuelError, match="this is not inside a run"):
            Asker("person").ask(WORKING, "x", options=(), at="")

    def test_a_check_can_neither_ask_nor_answer(self) -> None:
        with pytest.raises(SamuelError, match="cannot ask a question"):
            Asker("check", "run-7").ask(WORKING, "x", options=(), at="")
        with pytest.raises(SamuelError, match="cannot answer `q1`"):
            Asker("check", "run-7").answer(with_question(), "q1", text="x", at="")

    def test_an_agent_cannot_answer_and_a_discovery_has_nothing_to_ask_about(self) -> None:
        with pytest.raises(SamuelError, match="which cannot answer a question"):
            AGENT.answer(with_question(), "q1", text="x", at="")
        with pytest.raises(SamuelError, match="works on no task"):
            Asker("agent", run="run-7", discovers=True).ask(WORKING, "x", options=(), at="")


class TestTheQueue:
    def test_a_waiting_task_is_neither_open_nor_met(self) -> None:
        tasks = with_question()
        assert next_task(tasks) is None
        assert [task.id for task in remaining(tasks)] == ["2"]
        assert stuck(tasks) == (
            "`1` waits for the answer to: Which format? (`samuel run answer q1 TEXT`); `2` waits for `1` (waiting)"
        )


class TestTheFile:
    def test_a_file_without_a_question_has_no_column_for_them(self) -> None:
        text = encode(WORKING)
        assert "questions" not in text
        document = decode(text)
        text_with_question = encode(with_question(tasks=document.tasks), document)
        assert ",last_failure,questions}:" in text_with_question.split("\n")[0]
        back = decode(text_with_question)
        assert back.tasks == with_question()
        # Once it is there it stays, so that rows that did not change keep their text.
        assert ",questions}:" in encode(changes.reset(back.tasks, "1"), back)

    def test_a_file_from_before_there_were_questions_keeps_its_unknown_columns(self) -> None:
        document = decode('tasks[1]{id,title,status,owner}:\n  "1",One,in_progress,ann\n')
        after = decode(encode(with_question(tasks=document.tasks), document)).tasks[0]
        assert (after.extra, after.questions[0].text) == ({"owner": "ann"}, "Which format?")

    @given(st.text(), st.lists(st.text()), st.text())
    def test_any_text_is_read_back_as_it_was_written(self, text: str, options: list[str], answer: str) -> None:
        question = Question(id="q1", text=text, options=tuple(options), answer=answer)
        tasks = (Task(id="1", title="One", questions=(question,)), Task(id="2", title="Two", extra={"x": 1}))
        assert decode(encode(tasks)).tasks[0].questions == (question,)

    @pytest.mark.parametrize("cell", ["what?", "{}", '[{"id": "q1"}]', '[{"id": 1, "text": "x"}]', "[" * 5000])
    def test_a_cell_that_is_not_what_samuel_writes_is_refused_with_its_line(self, cell: str) -> None:
        quoted = cell.replace('"', '\\"')
        text = f'tasks[2]{{id,title,questions}}:\n  "1",One,""\n  "2",Two,"{quoted}"\n'
        with pytest.raises(ConfigError) as caught:
            decode(text, "prd.toon")
        assert [(problem.line, problem.what) for problem in caught.value.problems] == [
            (3, "`questions` must be JSON as Samuel writes it")
        ]

    def test_every_field_of_a_question_is_in_json(self) -> None:
        assert with_question()[0].plain()["questions"] == [
            {
                "id": "q1",
                "text": "Which format?",
                "options": [],
                "iteration": 4,
                "asked_at": "10:00",
                "answer": "",
                "answered_at": "",
            }
        ]


class TestWhileAnAgentWorks:
    @pytest.fixture
    def store(self, tmp_path: Path) -> TaskStore:
        store = TaskStore(tmp_path / "run", tmp_path / "record")
        store.replace_all(WORKING)
        store.open_seal(Seal(run_id="run-7", iteration=4, step="agent", own=("1",)))
        return store

    def test_a_question_survives_a_kill_of_the_loop(self, store: TaskStore, tmp_path: Path) -> None:
        store.change(lambda tasks: with_question(tasks=tasks))
        rebuilt = TaskStore(tmp_path / "run", tmp_path / "record").close_seal()  # by the next run
        assert rebuilt is not None
        assert (rebuilt.tasks, rebuilt.put_back) == (with_question(), ())

    def test_an_answer_counts_while_its_agent_is_still_at_work(self, store: TaskStore) -> None:
        store.change(lambda tasks: with_question(tasks=tasks))
        store.change(lambda tasks: changes.answer(tasks, "q1", text="json", at="11:00"), trusted=True)
        rebuilt = store.close_seal()
        assert rebuilt is not None
        assert (rebuilt.tasks, rebuilt.put_back) == (answered(), ())

    def test_an_answer_that_the_agent_wrote_into_the_file_is_taken_out(self, store: TaskStore) -> None:
        store.change(lambda tasks: changes.answer(with_question(tasks=tasks), "q1", text="yes", at="11:00"))
        rebuilt = store.close_seal()
        assert rebuilt is not None
        assert store.load() == WORKING
        assert rebuilt.put_back == ("task `1`: status was set to pending, questions was changed",)

    def test_an_answer_beside_the_status_waiting_is_taken_out_and_the_question_stays(
        self, store: TaskStore
    ) -> None:
        def forge(tasks: Tasks) -> tuple[Task, ...]:
            task = with_question(tasks=tasks)[0]
            return (replace(task, questions=(replace(task.questions[0], answer="yes"),)), *tasks[1:])

        store.change(forge)
        rebuilt = store.close_seal()
        assert rebuilt is not None
        assert store.load() == with_question()
        assert rebuilt.put_back == ("task `1`: questions was changed",)
