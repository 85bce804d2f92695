"""A task whose work fails old tests waits for a person, who accepts or refuses it."""

from __future__ import annotations

import getpass

import pytest

from samuel.tasks.question import Question
from samuel.tasks.task import Task, find

from .conftest import CONFIG, GOOD, Workshop, steady

TESTED = CONFIG.replace("test ! -f wrong", "sh test.sh")
CALLED = 'echo called >> calls-out\ncat > "prompt-$SAMUEL_ITERATION"\n'
RENAMES = f"""\
{CALLED}
if [ "$SAMUEL_TASK_ID" = 1 ]; then
    echo new > code.txt
    echo 'grep -q new code.txt' > test.sh
fi
{GOOD}"""
REASON = "the old name is in use elsewhere"


@pytest.fixture
def tested(workshop: Workshop, git) -> Workshop:
    """A project with a test of its code, in one commit; the agent of its task changes that test."""
    (workshop.root / "test.sh").write_text("grep -q old code.txt\n")
    (workshop.root / "code.txt").write_text("old\n")
    git(workshop.root, "add", "test.sh", "code.txt")
    git(workshop.root, "commit", "-q", "-m", "first")
    workshop.configure(TESTED)
    workshop.store.replace_all([Task(id="1", title="Say new, not old")])
    workshop.agent(RENAMES)
    return workshop


@pytest.fixture
def disputed(samuel, tested: Workshop) -> Workshop:
    """The same after a run: the agent insisted."""
    ran = samuel("run", "start", "--yes")
    assert ran.code == 1, ran
    assert tested.statuses == ["waiting"]
    return tested


def calls(workshop: Workshop) -> int:
    return (workshop.root / "calls-out").read_text().count("called")


def last_attempt(samuel) -> dict[str, object]:
    return samuel("run", "show", "1", "--json").json["data"]["attempts"][-1]


def test_disputed_task_waits_and_the_work_tree_is_as_before(samuel, disputed):
    assert (disputed.root / "code.txt").read_text() == "old\n"
    assert (disputed.root / "test.sh").read_text() == "grep -q old code.txt\n"
    question = disputed.store.load()[0].open_questions[0].text
    assert "`test.sh`" in question
    assert "as they were, they fail with this work: sh test.sh" in question
    assert "claim it again" not in question  # which is for the agent
    assert "samuel run accept 1" in samuel("run", "status").out
    report = samuel("run", "report", "--json").json["data"]
    (item,) = (item for item in report["waiting"] if item["subject"].startswith("1 "))
    assert [command["command"] for command in item["commands"]] == [
        "samuel run show 1 --diff",
        "samuel run accept 1",
        'samuel run refuse 1 "why"',
    ]
    assert "+grep -q new code.txt" in samuel("run", "show", "1", "--diff").out


def test_accepted_work_completes_without_an_agent_and_names_the_person(samuel, disputed):
    before = calls(disputed)
    ran = samuel("run", "accept", "1")
    assert (ran.code, calls(disputed)) == (0, before)
    assert "  completed (disputed): 1 of 1 task completed\n" in ran.out
    (task,) = disputed.store.load()
    assert (task.status, task.grade) == ("completed", "disputed")
    assert (disputed.root / "code.txt").read_text() == "new\n"
    evidence = last_attempt(samuel)["evidence"]
    assert evidence["grade"] == "disputed"
    assert evidence["rests_on"] == f"tests fail that were there before; accepted by {getpass.getuser()}"
    (item,) = samuel("run", "report", "--json").json["data"]["to_look_at"]
    assert (item["word"], item["why"]) == ("disputed", evidence["rests_on"])


def test_accepted_work_in_conflict_with_later_work_says_so_and_is_done_again(samuel, disputed):
    disputed.agent(f"{CALLED}[ $SAMUEL_TASK_ID != 2 ] || echo old and tidy > code.txt\n{GOOD}")
    first = disputed.store.load()[0]
    disputed.store.replace_all([first, Task(id="2", title="Tidy", kind="chore")])
    samuel("run", "start", "--yes")
    assert disputed.statuses == ["waiting", "completed"]
    ran = samuel("run", "accept", "1")
    assert (ran.code, disputed.statuses) == (1, ["pending", "completed"])
    assert "  quality_failed: the accepted work conflicts with what was completed since" in ran.out
    assert "in conflict: `code.txt`" in ran.out
    assert (disputed.root / "code.txt").read_text() == "old and tidy\n"


def test_accept_works_on_no_other_task(samuel, disputed):
    first = disputed.store.load()[0]
    disputed.store.replace_all([Task(id="0", title="Urgent", priority="critical"), first])
    before = calls(disputed)
    assert samuel("run", "accept", "1").code == 0
    assert (disputed.statuses, calls(disputed)) == (["pending", "completed"], before)


def test_accepted_work_that_fails_its_own_checks_by_now_is_not_completed(samuel, disputed, git):
    (disputed.root / "more.sh").write_text("! grep -q new code.txt\n")
    git(disputed.root, "add", "more.sh")
    git(disputed.root, "commit", "-q", "-m", "more")
    disputed.configure(TESTED.replace('"sh test.sh"', '"sh test.sh", "sh more.sh"'))
    before = calls(disputed)
    ran = samuel("run", "accept", "1", "--yes")
    assert (ran.code, disputed.statuses, calls(disputed)) == (1, ["pending"], before)
    assert disputed.store.load()[0].last_failure.startswith("quality_failed")
    # What a person accepted was that attempt. The next one is an agent's again.
    again = samuel("run", "start", "--yes", "--iterations", "1")
    assert calls(disputed) == before + 1, again


def test_refused_work_is_pending_and_its_next_attempt_begins_without_it_and_reads_why(samuel, disputed):
    assert samuel("run", "refuse", "1", REASON) == (0, "task `1` is pending; its next attempt reads why\n", "")
    assert disputed.statuses == ["pending"]
    disputed.agent(f'{CALLED}test "$(cat code.txt)" = old\necho more >> code.txt\n{GOOD}')
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    prompt = max(disputed.root.glob("prompt-*"), key=lambda file: file.stat().st_mtime_ns).read_text()
    assert REASON in prompt
    assert "last-attempt.diff" in prompt
    assert "+grep -q new code.txt" in (disputed.root / ".samuel/run/last-attempt.diff").read_text()
    assert (disputed.root / "test.sh").read_text() == "grep -q old code.txt\n"
    assert disputed.statuses == ["completed"]
    assert disputed.store.load()[0].grade == "checked"


def test_contested_task_with_a_single_attempt_is_disputed_and_not_blocked(samuel, tested):
    tested.configure(TESTED.replace("pause", "max_task_attempts = 1\npause"))
    assert samuel("run", "start", "--yes").code == 1
    assert (tested.statuses, calls(tested)) == (["waiting"], 1)
    assert samuel("run", "accept", "1", "--yes").code == 0
    assert tested.store.load()[0].grade == "disputed"


def test_test_that_is_weakened_at_the_only_attempt_is_disputed(samuel, tested):
    tested.configure(TESTED.replace("pause", "max_task_attempts = 1\npause"))
    tested.agent(f"{CALLED}echo more >> code.txt\n: > test.sh\n{GOOD}")
    assert samuel("run", "start", "--yes").code == 1
    assert tested.statuses == ["waiting"]
    assert (tested.root / "test.sh").read_text() == "grep -q old code.txt\n"


@pytest.mark.parametrize("command", [("accept", "1"), ("refuse", "1", "no")])
def test_task_that_is_not_disputed_can_be_neither_accepted_nor_refused(samuel, workshop, command):
    assert samuel("run", *command) == (
        1,
        "",
        "error: task `1` is not disputed\n`samuel run status` lists what waits for you\n",
    )
    assert workshop.statuses == ["pending", "pending"]


DISPUTE = Question(id="q1", text="may the work on this task change old tests?", options=("accept", "refuse"))


@pytest.mark.parametrize("command", [("accept", "1"), ("refuse", "1", "no")])
def test_agent_can_neither_accept_nor_refuse(samuel, workshop, inside, command):
    waiting = Task(id="1", title="One", status="waiting", questions=(DISPUTE,), last_failure="disputed: x")
    workshop.store.replace_all([waiting])
    inside(TASK_ID="1")
    ran = samuel("run", *command)
    assert (ran.code, workshop.statuses) == (1, ["waiting"]), ran
    assert find(workshop.store.load(), "1").questions == (DISPUTE,)


def test_question_of_an_agent_that_looks_like_a_dispute_accepts_nothing(samuel, tested):
    tested.agent('samuel run ask "Use it?" --option accept --option refuse\necho new > code.txt\n')
    samuel("run", "start", "--yes", "--iterations", "1")
    assert samuel("run", "accept", "1").code == 1
    tested.agent(f"{CALLED}samuel run done 1\n")
    assert samuel("run", "answer", "1", "accept").code == 0
    samuel("run", "start", "--yes", "--iterations", "1")
    assert calls(tested) == 1
    assert tested.statuses == ["pending"]


def test_show_prints_which_tests_ran_on_which_source(samuel, tested):
    tested.agent("echo old and new > code.txt\necho 'grep -q new code.txt' >> test.sh\n" + GOOD)
    ran = samuel("run", "start", "--yes")
    assert ran.code == 0
    assert (
        "  check `sh test.sh`: ok (0.0s)\n"
        "  the attempt changed test.sh: checking with the tests as they were, too\n"
        "  check `sh test.sh` with the tests as they were: ok (0.0s)\n"
        "  check `sh test.sh` with its tests on the source as it was: fails, as it should (0.0s)\n"
    ) in steady(ran.out)
    screen = samuel("run", "show", "1").out
    rows = [" ".join(row.split()) for row in screen.splitlines()]
    first = rows.index("TESTS ON SOURCE CHECK RESULT")
    assert rows[first + 1 : first + 4] == [
        "new on new sh test.sh ok",
        "old on new sh test.sh ok",
        "new on old sh test.sh red",
    ]


def test_completed_task_has_its_grade_in_the_trailer_of_its_commit(samuel, tested, git):
    git(tested.root, "config", "user.name", "Ann")
    git(tested.root, "config", "user.email", "ann@example.org")
    tested.configure(TESTED.replace("pause", "commit = true\npause"))
    tested.agent("echo more >> code.txt\n" + GOOD)
    assert samuel("run", "start", "--yes").code == 0
    (task,) = tested.store.load()
    assert task.grade == "checked"
    assert git(tested.root, "log", "-1", "--format=%(trailers:key=Samuel-Grade,valueonly)").strip() == "checked"


def test_report_lists_what_is_only_checked_with_what_that_rests_on(samuel, tested):
    tested.agent("echo more >> code.txt\n" + GOOD)
    samuel("run", "start", "--yes")
    report = samuel("run", "report", "--json").json["data"]
    assert report["to_look_at"] == [
        {
            "subject": "1 Say new, not old",
            "word": "checked",
            "tone": "warn",
            "why": "no test shows the change: nothing was added or changed that fails without it",
            "commands": [{"command": "samuel run show 1 --diff", "effect": "prints the change"}],
            "options": [],
        }
    ]
    assert "## Look at these yourself\n" in samuel("run", "report", "--markdown").out


def test_check_that_passes_only_in_the_work_tree_is_named_before_an_agent_is_paid(samuel, tested, git):
    (tested.root / ".gitignore").write_text("licence.key\n")
    (tested.root / "licence.key").write_text("key\n")
    (tested.root / "test.sh").write_text('grep -q old code.txt && test "$(pwd)" = "$(cat where-out)"\n')
    (tested.root / "where-out").write_text(f"{tested.root}\n")
    git(tested.root, "add", "test.sh", ".gitignore")
    git(tested.root, "commit", "-q", "-m", "where")
    ran = samuel("run", "start", "--yes")
    assert (ran.code, tested.statuses) == (1, ["pending"])
    assert (
        "in your work tree `sh test.sh` passes: it needs what git does not have, or what is outside of the "
        'repository; `evidence = "in place"` in samuel.toml runs the checks there\n'
    ) in ran.out
    tested.configure(TESTED.replace("pause", 'evidence = "in place"\npause'))
    tested.agent("echo more >> code.txt\n" + GOOD)
    assert samuel("run", "start", "--yes").code == 0
    assert last_attempt(samuel)["evidence"]["place"] == "in place"
