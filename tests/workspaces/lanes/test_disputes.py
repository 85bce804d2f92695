"""Disputed tasks with several agents at once: a person decides about each of them, also while the run goes on."""

from __future__ import annotations

import pytest
from tests.workspaces.lanes.project import LaneProject

FILES = {
    **{f"test-{task}.sh": f"grep -q old code-{task}.txt\n" for task in (1, 2)},
    **{f"code-{task}.txt": "old\n" for task in (1, 2)},
}
CHECKS = '["sh test-1.sh", "sh test-2.sh"]'
INSISTS = """\
echo new > "code-$SAMUEL_TASK_ID.txt"
echo "grep -q new code-$SAMUEL_TASK_ID.txt" > "test-$SAMUEL_TASK_ID.sh"
"""
OBEYS = 'test "$(cat code-1.txt)" = old && echo more >> code-1.txt\n'


@pytest.fixture
def tested(lanes: LaneProject) -> LaneProject:
    """A project in which two tasks change a test that they do not own, and a third waits for a file."""
    lanes.prepare(3, files=FILES, checks=CHECKS)
    lanes.task("any", INSISTS)
    lanes.task("3", f"while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo x > three.txt\n")
    return lanes


def question_ids(lanes: LaneProject) -> list[str]:
    return [question["id"] for id in ("1", "2") for question in lanes.row(id)["questions"]]


def test_person_accepts_one_and_refuses_the_other_while_the_run_goes_on(tested: LaneProject) -> None:
    with tested.running(lanes=3) as run:
        tested.wait_for(lambda: [tested.statuses()[id] for id in ("1", "2")] == ["waiting"] * 2, run)
        assert sorted(question_ids(tested)) == ["q1", "q2"]
        tested.task("1", OBEYS)
        assert "completes task `2`" in tested.samuel("run", "accept", "2").out
        tested.samuel("run", "refuse", "1", "the old name is in use")
        tested.wait_for(lambda: tested.statuses()["2"] == "completed" and tested.statuses()["1"] != "pending", run)
        (tested.outside / "go").touch()
        assert run.wait(300) == 0, tested.screen
    tested.assert_sound(3)
    assert (tested.row("2")["grade"], tested.row("1")["grade"]) == ("disputed", "checked")
    assert tested.git("show", "main:code-2.txt") == "new\n"
    assert tested.git("show", "main:code-1.txt") == "old\nmore\n"  # it began without the refused files
    assert "the old name is in use" in tested.prompts("1")[-1]
    assert len([call for call in tested.calls() if call.task == "2"]) == 2  # none for what was accepted


def test_person_decides_after_the_run(tested: LaneProject) -> None:
    (tested.outside / "go").touch()
    tested.start(lanes=3, code=1)
    assert sorted(question_ids(tested)) == ["q1", "q2"]
    tested.samuel("run", "accept", "2", "--yes")
    assert tested.statuses()["2"] == "completed"
    assert tested.statuses()["1"] == "waiting"
    assert (tested.root / "code-2.txt").read_text() == "new\n"


def test_person_accepts_during_a_later_run_in_lanes(tested: LaneProject) -> None:
    (tested.outside / "go").touch()
    tested.start(lanes=3, code=1)
    (tested.outside / "go").unlink()
    tested.samuel("run", "enqueue", "Wait")
    tested.task("any", (tested.outside / "tasks/3").read_text().replace("three", "four"))
    calls = len(tested.calls())
    with tested.running(lanes=2) as run:
        tested.wait_for(lambda: len(tested.calls()) > calls, run)
        tested.samuel("run", "accept", "2")
        tested.wait_for(lambda: tested.statuses()["2"] == "completed", run)
        (tested.outside / "go").touch()
        run.wait(300)
    assert tested.git("show", "main:code-2.txt") == "new\n"


def test_accepted_work_that_git_has_lost_is_not_taken_for_done(tested: LaneProject) -> None:
    (tested.outside / "go").touch()
    tested.start(lanes=3, code=1)
    refs = tested.git("for-each-ref", "--format=%(refname)", "refs/samuel").split()
    for ref in refs:
        if "/2/" in ref:
            tested.git("update-ref", "-d", ref)
    tested.git("gc", "-q", "--prune=now")
    tested.samuel("run", "accept", "2", "--yes", code=None)
    assert tested.statuses()["2"] != "completed"
    assert "git does not have the work any more that was accepted" in tested.row("2")["last_failure"]


def test_screen_names_the_commands_that_decide(tested: LaneProject) -> None:
    (tested.outside / "go").touch()
    screen = tested.start(lanes=3, code=1).screen
    for task in ("1", "2"):
        assert f"samuel run accept {task}\n" in screen
        assert f'samuel run refuse {task} "why"\n' in screen
    assert "run answer" not in screen


def test_questions_of_agents_in_two_lanes_have_ids_of_their_own(lanes: LaneProject) -> None:
    lanes.prepare(2)
    for task, other in (("1", "2"), ("2", "1")):
        wait = f"while [ ! -e {lanes.outside}/begun-{other} ]; do sleep 0.05; done"
        lanes.task(task, f'touch {lanes.outside}/begun-{task}\n{wait}\nsamuel run ask "about {task}?"\n')
    lanes.start(lanes=2, code=1)
    assert sorted(question_ids(lanes)) == ["q1", "q2"]
    for task in ("1", "2"):
        (question,) = lanes.row(task)["questions"]
        lanes.samuel("run", "answer", question["id"], f"answer to {task}")
    for task in ("1", "2"):
        assert lanes.row(task)["questions"][0]["answer"] == f"answer to {task}"
