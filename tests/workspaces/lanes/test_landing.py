"""Work of several lanes on one branch: each task lands once, and every commit of the branch passes the checks."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.length import at_length
from tests.workspaces.lanes.project import LaneProject

TASKS = at_length(8, 40)
LANES = at_length(3, 8)


def test_each_task_lands_once_and_never_more_agents_work_than_there_are_lanes(lanes: LaneProject) -> None:
    lanes.prepare(TASKS)
    lanes.task("any", 'sleep 0.4; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')

    data = lanes.start("--json", lanes=LANES).data

    assert data["exit_reason"] == "queue_empty"
    lanes.assert_sound(TASKS)
    assert lanes.most_at_once() == LANES
    assert len(lanes.calls()) == TASKS
    assert len({call.iteration for call in lanes.calls()}) == TASKS
    assert {call.lane for call in lanes.calls()} == set(range(1, LANES + 1))
    files = {f"work-{number}.txt" for number in range(1, TASKS + 1)}
    assert files <= {path.name for path in lanes.root.iterdir()}, "the person's work tree follows"
    assert lanes.git("status", "--porcelain") == ""
    assert len(list(lanes.lane_directory().glob("*/.git"))) == LANES + 1, "the disk has N trees and one for merges"


@pytest.mark.slow
def test_a_task_begins_when_its_dependencies_have_landed(lanes: LaneProject) -> None:
    bodies = {"1": "", **{str(number): f"Depends on: {number - 1}" for number in range(2, 4)}, "4": "", "5": ""}
    lanes.prepare(bodies)
    for number in range(2, 4):
        lanes.task(str(number), f"test -e work-{number - 1}.txt && echo x > work-{number}.txt")

    lanes.start()

    lanes.assert_sound(5)
    assert [task for task in lanes.landed() if task in "123"] == ["1", "2", "3"]


@pytest.mark.slow
def test_work_that_only_fails_together_lands_one_after_the_other(lanes: LaneProject) -> None:
    check = "test ! -e uses-old || grep -q old api\n"
    lanes.prepare(
        2,
        files={"api": "old\n", "check.sh": check},
    )
    lanes.task("1", "sleep 0.5; echo new > api; rm -f uses-old; echo 1 > work-1.txt")
    # The second attempt sees that the name is gone.
    lanes.task(
        "2", "if grep -q old api; then touch uses-old; else rm -f uses-old; fi; echo 2 > work-2.txt; sleep 0.5"
    )

    lanes.start(lanes=2)

    lanes.assert_sound(2)
    lanes.assert_green()
    failed = [prompt for task in "12" for prompt in lanes.prompts(task) if "fail on the merge" in prompt]
    assert len(failed) == 1, "the one that came second is told that the merge failed"


def test_a_textual_conflict_is_a_failed_attempt_with_the_conflict_in_the_next_prompt(lanes: LaneProject) -> None:
    count = at_length(3, 10)
    lanes.prepare(count, files={"line.txt": "start\n"})
    lanes.task("any", 'sleep 0.3; echo "$(cat line.txt) $SAMUEL_TASK_ID" > line.txt')

    lanes.start(lanes=count)

    lanes.assert_sound(count)
    words = lanes.git("show", "main:line.txt").split()
    assert sorted(words[1:], key=int) == [str(number) for number in range(1, count + 1)]
    conflicts = len(lanes.calls()) - count
    assert 1 <= conflicts <= 2 * count
    again = [prompts[1] for task in range(1, count + 1) if len(prompts := lanes.prompts(str(task))) > 1]
    assert all("line.txt" in prompt and "<<<<<<<" in prompt for prompt in again)
    assert lanes.samuel("run", "status", "--json").data["outcomes"]["conflict"] == conflicts


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3])
def test_tasks_that_conflict_again_and_again_are_worked_on_one_by_one_until_all_have_landed(
    lanes: LaneProject, attempts: int
) -> None:
    lanes.prepare(5, f"max_task_attempts = {attempts}", files={"line.txt": "start\n"})
    lanes.task("any", 'line="$(cat line.txt)"; sleep 0.5; echo "$line $SAMUEL_TASK_ID" > line.txt')

    lanes.start(lanes=4)

    lanes.assert_sound(5)
    assert sorted(lanes.git("show", "main:line.txt").split()[1:]) == ["1", "2", "3", "4", "5"]
    assert all(len(lanes.prompts(str(task))) <= 3 for task in range(1, 6)), "the third attempt is alone, and lands"


@pytest.mark.slow
def test_a_red_branch_ends_the_run_before_an_agent_is_paid(lanes: LaneProject) -> None:
    lanes.prepare(3)
    lanes.write("broken", "")
    lanes.git("add", "broken")
    lanes.git("commit", "-q", "-m", "break it")

    data = lanes.start("--json", code=1).data

    assert data["exit_reason"] == "baseline_failed"
    assert lanes.calls() == []
    assert set(lanes.statuses().values()) == {"pending"}


@pytest.mark.slow
def test_a_branch_that_a_person_breaks_meanwhile_ends_the_run_and_blames_nobody(lanes: LaneProject) -> None:
    lanes.prepare(3)
    lanes.task(
        "any", f'while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo 1 > "work-$SAMUEL_TASK_ID.txt"'
    )
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        lanes.write("broken", "")
        lanes.git("add", "broken")
        lanes.git("commit", "-q", "-m", "break it")
        (lanes.outside / "go").touch()
        assert run.wait() == 1

    assert lanes.samuel("run", "status", "--json").data["exit_reason"] == "base_broken"
    assert set(lanes.statuses().values()) == {"pending"}
    assert [lanes.row(id)["attempts"] for id in "123"] == [0, 0, 0]

    paid = len(lanes.calls())
    assert "ended: baseline_failed" in lanes.start(lanes=2, code=1).screen
    assert set(lanes.statuses().values()) == {"pending"}, "what was ready lands on no branch that is red"
    lanes.git("rm", "-q", "broken")
    lanes.git("commit", "-q", "-m", "mend it")
    lanes.start(lanes=2)
    assert set(lanes.statuses().values()) == {"completed"}
    assert len(lanes.calls()) == paid + 1, "what was ready lands without being paid again"


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_when_the_branch_turns_out_to_be_broken(lanes: LaneProject) -> None:
    lanes.prepare(1)
    held = f"while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo 1 > work-1.txt"
    lanes.task("any", held)
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 1, run)
        lanes.write("broken", "")
        lanes.git("add", "broken")
        lanes.git("commit", "-q", "-m", "break it")
        run.send_signal(signal.SIGINT)
        lanes.wait_for(lambda: "finishing this attempt" in lanes.screen, run)
        (lanes.outside / "go").touch()
        assert run.wait(60) == 130
    assert lanes.statuses() == {"1": "pending"}


@pytest.mark.slow
def test_a_batch_lands_as_one_commit_and_a_red_one_is_halved(lanes: LaneProject) -> None:
    check = "sleep 0.3; test ! -e bad-3 || test ! -e work-1.txt\n"
    lanes.prepare(4, files={"check.sh": check}, settings="max_task_attempts = 2")
    # All four are ready together, while the first landing is checked.
    lanes.task("3", "touch bad-3")
    lanes.task("any", 'echo 1 > "work-$SAMUEL_TASK_ID.txt"')

    lanes.start(lanes=4, code=None)

    statuses = lanes.statuses()
    assert {statuses[id] for id in "124"} == {"completed"} or statuses["3"] == "completed"
    lanes.assert_green()


@pytest.mark.slow
def test_a_merge_and_the_work_in_it_have_different_subjects_and_a_task_has_its_own_diff(
    lanes: LaneProject,
) -> None:
    lanes.prepare(4, "commit = true", files={"check.sh": "sleep 0.5\n"})

    lanes.start(lanes=4)

    lanes.assert_sound(4)
    subjects = lanes.git("log", "--format=%s", "begin..main").splitlines()
    assert len(subjects) == len(set(subjects)), subjects
    for id in "1234":
        for text in (lanes.samuel("run", "show", id, "--diff").out, diff_in_report(lanes, id)):
            assert f"+++ b/work-{id}.txt" in text
            assert text.count("diff --git") == 1, "not those that landed with it"


def diff_in_report(lanes: LaneProject, id: str) -> str:
    return next(task["diff"] for task in lanes.samuel("run", "report", "--json").data["tasks"] if task["id"] == id)


@pytest.mark.slow
def test_one_agent_at_a_time_has_no_lanes(lanes: LaneProject) -> None:
    lanes.prepare(1)

    lanes.start(lanes=1)

    assert lanes.statuses() == {"1": "completed"}
    assert "lanes" not in json.loads((lanes.root / ".samuel/run/run.json").read_text())
    assert not (lanes.home / "state/samuel/lanes").exists()
    assert lanes.git("rev-parse", "main") == lanes.git("rev-parse", "begin"), "`commit` is false"
    assert lanes.git("status", "--porcelain").split() == ["??", "work-1.txt"]


@pytest.mark.slow
def test_one_lane_is_what_a_run_without_the_option_is(
    tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> None:
    def ran(name: str, *arguments: str) -> tuple[object, list[str]]:
        (tmp_path / name / "home").mkdir(parents=True)
        with_compiled_python(tmp_path / name / "home/cache")
        project = LaneProject(tmp_path / name, fast_samuel, tmp_path / name / "home")
        project.prepare(2, settings="commit = true")
        project.task("2", f"test -e {project.outside}/again && echo 2 > work-2.txt; touch {project.outside}/again")
        project.start(*arguments, lanes=0)
        journal = sorted(project.root.glob(".samuel/run/journal/*.jsonl"))
        entries = [json.loads(line) for file in journal for line in file.read_text().splitlines()]
        run = json.loads((project.root / ".samuel/run/run.json").read_text())
        for key in ("run_id", "started_at", "pinned", "tree"):  # times, and digests of other paths
            run.pop(key, None)
        events = [str(entry.get("event")) for entry in entries]
        assert "after:loop" in events
        return run, events

    assert ran("without") == ran("with", "--parallel", "1")


@pytest.mark.slow
def test_a_check_that_fails_once_on_the_merge_is_flaky_and_the_work_lands(lanes: LaneProject) -> None:
    flaked = lanes.outside / "flaked"
    both = f"if [ -e work-1.txt ] && [ -e work-2.txt ] && [ ! -e {flaked} ]; then touch {flaked}; exit 1; fi\n"
    lanes.prepare(2, files={"check.sh": both})
    lanes.task("any", 'sleep 0.5; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')

    ran = lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert len(lanes.calls()) == 2, "no agent was asked to do it again"
    assert flaked.exists()
    assert "flaky: it failed, and passed when it was run once more" in ran.screen
