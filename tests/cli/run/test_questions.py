"""An agent asks, its task waits, a person answers, and the next agent has the answer in its prompt."""

from __future__ import annotations

import sys

import pytest

from samuel.tasks.question import Question
from samuel.tasks.task import Task, find

from .conftest import CONFIG, GOOD, Workshop

DROPPED = "env -u SAMUEL_RUN_ID -u SAMUEL_STEP -u SAMUEL_SESSION_ID -u SAMUEL_TASK_ID -u SAMUEL_CALL"
SAMUEL = f"{sys.executable} -P -m samuel"
ASK = 'samuel run ask "Which format?" --option json --option toon'
# Asks until the answer is in its prompt, and then does its task.
ASKING = f"""\
cat > prompt
if [ "$SAMUEL_TASK_ID" = 1 ] && ! grep -q 'answer: toon\\|,toon$' prompt; then
    {ASK} > asked-out
    exit 0
fi
{GOOD}"""
WAITS = "task `1.10` waits for the answer to `q1`; end this turn now: the answer will be in the next prompt\n"


@pytest.fixture
def workshop(workshop: Workshop) -> Workshop:
    """Its check fails before the first agent has worked."""
    workshop.configure(CONFIG.replace("pause =", 'baseline = "accept"\npause ='))
    return workshop


@pytest.mark.slow
def test_a_question_is_parked_answered_and_in_the_next_prompt(samuel, workshop):
    workshop.agent(ASKING)
    samuel("trust", "--yes")
    samuel("run", "start", "--iterations", "1")
    assert workshop.statuses == ["waiting", "pending"]
    assert "task `1` waits for the answer to `q1`" in (workshop.root / "asked-out").read_text()
    assert samuel("run", "questions") == (
        0,
        "q1  task 1 One\n"
        "    Which format?\n"
        "      1. json\n"
        "      2. toon\n"
        "    answer it with: samuel run answer q1 TEXT, or the number of an option\n",
        "",
    )
    assert samuel("run", "answer", "q1", "2") == (0, "`q1` is answered: toon; task `1` is pending\n", "")
    assert samuel("run", "questions").out == "no questions\n"
    samuel("run", "start", "--iterations", "1")
    assert workshop.statuses == ["completed", "pending"]
    assert "answers_from_a_person" in (workshop.root / "prompt").read_text()


@pytest.mark.slow
def test_an_answer_given_while_the_agent_is_still_at_work_counts(samuel, workshop):
    workshop.agent(f"{ASK}\ntouch begun; until [ -f go ]; do sleep 0.02; done\n")
    samuel("trust", "--yes")
    with workshop.start("--iterations", "1") as process:
        workshop.wait_for("begun")
        assert samuel("run", "answer", "1", "json").code == 0
        (workshop.root / "go").touch()
        process.communicate(timeout=120)
    task = workshop.store.load()[0]
    assert (task.status, task.attempts) == ("pending", 0)
    assert task.questions[0].answer == "json"


@pytest.mark.slow
def test_an_agent_that_was_killed_with_its_loop_has_asked_all_the_same(samuel, workshop):
    workshop.agent(f"{ASK}\ntouch begun; sleep 300\n")
    samuel("trust", "--yes")
    with workshop.start("--iterations", "1") as process:
        workshop.wait_for("begun")
        process.kill()
        process.communicate(timeout=120)
    workshop.agent(GOOD)
    samuel("run", "start", "--yes", "--iterations", "1")
    assert workshop.statuses[0] == "waiting"
    assert samuel("run", "answer", "q1", "json").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", ["{command}", "{dropped} {command}", "{dropped} setsid -w {command}"])
def test_an_agent_cannot_answer_its_own_question(samuel, workshop, way):
    command = way.format(command=f"{SAMUEL} run answer q1 json", dropped=DROPPED)
    workshop.agent(f"{ASK}\n{command} > answer-out 2>&1 || true\n")
    samuel("trust", "--yes")
    samuel("run", "start", "--iterations", "1")
    assert "which cannot answer a question" in (workshop.root / "answer-out").read_text()
    assert workshop.statuses == ["waiting", "pending"]


def test_an_answer_that_the_agent_writes_into_the_file_is_put_back(samuel, workshop, put):
    put("forge.py", FORGE)
    workshop.agent(f"{ASK}\n{sys.executable} forge.py\n")
    samuel("trust", "--yes")
    ran = samuel("run", "start", "--iterations", "1")
    assert "put back: task `1`: questions was changed" in ran.out
    task = workshop.store.load()[0]
    assert (task.status, task.questions[0].answer) == ("waiting", "")


FORGE = """
from pathlib import Path
from msgspec.structs import replace
from samuel.tasks.store import TaskStore
def forge(tasks):
    question = replace(tasks[0].questions[0], answer="yes", answered_at="now")
    return (replace(tasks[0], questions=(question,)), *tasks[1:])
TaskStore(Path(".samuel/run")).change(forge)
"""


class TestAsk:
    def test_outside_a_run_it_is_refused(self, samuel, three):
        assert samuel("run", "ask", "Which?") == (
            1,
            "",
            "error: this is not inside a run, so there is no task to ask about\n"
            "an agent asks about the task that it works on; `samuel run questions` lists what agents asked\n",
        )

    def test_in_a_check_it_is_refused(self, samuel, three, inside):
        inside(TASK_ID="1.10", STEP="check")
        assert "which cannot ask a question" in samuel("run", "ask", "Which?").err

    def test_it_parks_the_task_of_the_agent(self, samuel, three, inside):
        inside(TASK_ID="1.10", ITERATION="2")
        assert samuel("run", "ask", "Which?") == (0, WAITS, "")
        assert find(three.load(), "1.10").status == "waiting"
        assert samuel("run", "done", "1.10") == (
            1,
            "",
            "error: task `1.10` is waiting, so it cannot be claimed\n"
            "it waits for an answer; `samuel run questions` lists the open questions\n",
        )

    def test_an_answered_question_prints_its_answer_and_parks_nothing(self, samuel, three, inside, monkeypatch):
        inside(TASK_ID="1.10", ITERATION="2")
        samuel("run", "ask", "Which?", "--option", "a")
        monkeypatch.delenv("SAMUEL_RUN_ID")
        samuel("run", "answer", "1.10", "1")
        three.change(lambda tasks: [_begun(task) if task.id == "1.10" else task for task in tasks])
        inside(TASK_ID="1.10", ITERATION="3")
        assert samuel("run", "ask", "Which?", "--option", "a") == (0, "question `q1` is answered: a\n", "")
        assert find(three.load(), "1.10").status == "in_progress"
        data = samuel("run", "ask", "Which?", "--option", "a", "--json").json["data"]
        assert (data["task"], data["status"], data["question"]["answer"]) == ("1.10", "in_progress", "a")


def _begun(task: Task) -> Task:
    from msgspec.structs import replace

    return replace(task, status="in_progress")


def test_questions_are_listed_with_the_command_that_answers_them(samuel, three, inside, monkeypatch):
    inside(TASK_ID="1.10", ITERATION="2")
    samuel("run", "ask", "Which?")
    samuel("run", "ask", "Why?")
    monkeypatch.delenv("SAMUEL_RUN_ID")
    assert samuel("run", "answer", "q1", "this") == (0, "`q1` is answered: this; 1 more to answer\n", "")
    (row,) = samuel("run", "questions", "--json").json["data"]
    assert (row["id"], row["task"], row["title"], row["command"]) == (
        *("q2", "1.10", "Use it"),
        "samuel run answer q2 TEXT",
    )
    listed = samuel("run", "questions", "--all").out
    assert listed.startswith(
        "q1  task 1.10 Use it\n    Which?\n    answer: this\nq2  task 1.10 Use it\n    Why?\n"
    )
    assert samuel("run", "tasks", "--status", "waiting").out.endswith("Use it  Why?\n")
    assert '"waiting": 1' in samuel("run", "status", "--json").out


def test_a_person_can_reset_skip_block_or_complete_a_waiting_task(samuel, three, inside, monkeypatch):
    for command in (("reset",), ("skip", "--reason", "x"), ("block", "--reason", "x"), ("done",)):
        three.change(lambda tasks: [_begun(task) if task.id == "1.10" else task for task in tasks])
        inside(TASK_ID="1.10", ITERATION="2")
        assert samuel("run", "ask", "Which?").code == 0
        monkeypatch.delenv("SAMUEL_RUN_ID")
        assert samuel("run", command[0], "1.10", *command[1:]).code == 0
        assert samuel("run", "questions").out == "no questions\n"


class TestReset:
    @pytest.fixture
    def blocked(self, store):
        tasks = [Task(id=id, title=id, status="blocked", attempts=3, last_failure="no") for id in ("1", "3")]
        store.replace_all([tasks[0], Task(id="2", title="2", status="completed"), tasks[1]])
        return store

    def test_all_blocked_tasks_are_reset_at_once(self, samuel, blocked):
        assert samuel("run", "reset", "--blocked") == (0, "task `1` is pending\ntask `3` is pending\n", "")
        assert [(task.status, task.attempts) for task in blocked.load()] == [
            ("pending", 0),
            ("completed", 0),
            ("pending", 0),
        ]
        assert samuel("run", "reset", "--blocked") == (0, "no task is blocked\n", "")
        assert samuel("run", "reset", "--blocked", "--json").json["data"] == []

    def test_several_ids_are_reset_or_none_of_them(self, samuel, blocked):
        assert samuel("run", "reset", "1", "9").code == 2
        assert blocked.load()[0].status == "blocked"
        assert samuel("run", "reset", "1", "2", "1").out == "task `1` is pending\ntask `2` is pending\n"

    def test_the_json_of_one_id_is_that_task(self, samuel, blocked):
        assert samuel("run", "reset", "1", "--json").json["data"]["id"] == "1"
        assert [task["id"] for task in samuel("run", "reset", "1", "3", "--json").json["data"]] == ["1", "3"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("1", "--blocked"), "both IDs and --blocked say which tasks to reset"),
            ((), "which task to reset is missing"),
        ],
    )
    def test_it_needs_either_ids_or_the_option(self, samuel, blocked, arguments, message):
        ran = samuel("run", "reset", *arguments)
        assert ran == (2, "", f"error: {message}\ngive IDs, or --blocked for all blocked tasks\n")

    def test_an_agent_cannot_reset_the_blocked_tasks(self, samuel, blocked, inside):
        inside(TASK_ID="2")
        assert "which cannot reset a task" in samuel("run", "reset", "--blocked").err


def test_a_task_is_added_with_its_description(samuel, three):
    samuel("run", "enqueue", "Write it down", "--description", "In docs/, with an example.\nShort.")
    assert three.load()[-1].description == "In docs/, with an example.\nShort."


@pytest.fixture
def with_options(store):
    """A task that waits for the choice between two options."""
    question = Question(id="q1", text="Which format?", options=("json", "toon"))
    store.replace_all([Task(id="1", title="One", status="waiting", questions=(question,))])
    return store


@pytest.mark.parametrize("text", ["9", "0", "3.", "#3", "c", "C)", " 9 "])
def test_a_number_that_is_no_option_is_refused_with_the_options(samuel, with_options, text):
    word = text.strip()
    assert samuel("run", "answer", "q1", text) == (
        2,
        "",
        f"error: question `q1` has no option `{word}`\n"
        "give 1 for `json`, 2 for `toon`; an answer of your own has words: "
        f"`samuel run answer q1 'use {word}'`\n",
    )
    assert with_options.load()[0].status == "waiting"


@pytest.mark.parametrize("text", ["yaml", "use 9", "n", "9 columns", "-"])
def test_any_other_text_is_an_answer_also_if_there_are_options(samuel, with_options, text):
    assert samuel("run", "answer", "q1", "--", text).out == f"`q1` is answered: {text}; task `1` is pending\n"


def test_a_number_answers_a_question_without_options(samuel, store):
    question = Question(id="q1", text="How many?")
    store.replace_all([Task(id="1", title="One", status="waiting", questions=(question,))])
    assert samuel("run", "answer", "q1", "9").out == "`q1` is answered: 9; task `1` is pending\n"
