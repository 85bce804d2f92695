"""What a person says to a run with lanes, and asks of it, while its agents work."""

from __future__ import annotations

from tests.workspaces.lanes.project import LaneProject

# The first attempt at each task begins its work and waits; later ones note what is there, and finish it.
HALF = """\
if [ ! -e "{outside}/half-$SAMUEL_TASK_ID" ]; then
    echo half > "half-$SAMUEL_TASK_ID.txt"
    touch "{outside}/half-$SAMUEL_TASK_ID"
    while :; do sleep 0.05; done
fi
ls > "{outside}/files-$SAMUEL_TASK_ID"
echo whole > "work-$SAMUEL_TASK_ID.txt"
"""


def begun(lanes: LaneProject, *names: str) -> bool:
    return all((lanes.outside / name).exists() for name in names)


def test_all_attempts_under_way_start_again_with_what_is_said_now(lanes: LaneProject) -> None:
    lanes.prepare(3, settings="max_task_attempts = 1")
    lanes.task("any", HALF.format(outside=lanes.outside))
    lanes.task("3", "echo 3 > work-3.txt")
    with lanes.running(lanes=2) as process:
        lanes.wait_for(lambda: begun(lanes, "half-1", "half-2"), process)
        assert lanes.samuel("run", "say", "--now", "look at reader.py", "--json").data["restarts"] == ["1", "2"]
        assert process.wait(timeout=600) == 0, lanes.screen
    assert set(lanes.statuses().values()) == {"completed"}
    for task in ("1", "2"):
        first, second = lanes.prompts(task)
        assert "look at reader.py" not in first
        assert "look at reader.py" in second
        assert f"half-{task}.txt" in (lanes.outside / f"files-{task}").read_text().split()
    assert "look at reader.py" not in lanes.prompts("3")[0]
    outcomes = [attempt["outcome"] for attempt in lanes.samuel("run", "show", "--json").data["attempts"]]
    assert sorted(outcomes) == ["completed", "completed", "completed", "restarted", "restarted"]
    report = next(lanes.root.glob(".samuel/run/reports/*/report.md")).read_text()
    assert "look at reader.py" in report
    assert "look at reader.py" in next(lanes.root.glob(".samuel/run/reports/*/report.html")).read_text()
    assert "look at reader.py" in next(lanes.root.glob(".samuel/run/reports/*/report.json")).read_text()


def test_attempts_under_way_land_while_the_run_is_paused(lanes: LaneProject) -> None:
    lanes.prepare(4)
    waiting = (
        f'touch "{lanes.outside}/begun-$SAMUEL_TASK_ID"; while [ ! -e "{lanes.outside}/go" ]; do sleep 0.05; done'
    )
    lanes.task("any", f'{waiting}; echo x > "work-$SAMUEL_TASK_ID.txt"')
    with lanes.running(lanes=2) as process:
        lanes.wait_for(lambda: begun(lanes, "begun-1", "begun-2"), process)
        lanes.samuel("run", "pause")
        (lanes.outside / "go").touch()
        lanes.wait_for(lambda: sorted(lanes.landed()) == ["1", "2"], process)
        lanes.wait_for(lambda: "paused by" in lanes.screen, process)
        assert lanes.samuel("run", "status", "--json").data["paused"]
        assert not begun(lanes, "begun-3")
        lanes.samuel("run", "resume")
        assert process.wait(timeout=600) == 0, lanes.screen
    lanes.assert_sound(4)


def test_a_general_word_is_read_by_one_attempt_of_two_that_begin_at_once(lanes: LaneProject) -> None:
    lanes.prepare(4)
    lanes.samuel("run", "say", "look at reader.py")
    lanes.start(lanes=2)
    texts = [prompt for number in range(1, 5) for prompt in lanes.prompts(str(number))]
    assert ["look at reader.py" in text for text in texts].count(True) == 1


def test_rejected_work_is_taken_back_while_lanes_work_and_lands_again(lanes: LaneProject) -> None:
    lanes.prepare(3)
    waiting = f'touch "{lanes.outside}/begun-3"; while [ ! -e "{lanes.outside}/go" ]; do sleep 0.05; done'
    lanes.task("3", f"{waiting}; echo 3 > work-3.txt")
    lanes.task("1", 'echo "$SAMUEL_ITERATION" > work-1.txt')
    with lanes.running(lanes=2) as process:
        lanes.wait_for(lambda: sorted(lanes.landed()) == ["1", "2"] and begun(lanes, "begun-3"), process)
        lanes.wait_for(lambda: lanes.statuses()["1"] == "completed", process)
        sha = lanes.row("1")["commit_sha"]
        lanes.samuel("run", "reject", "1", "not like this")
        lanes.wait_for(lambda: len(lanes.prompts("1")) == 2, process)
        (lanes.outside / "go").touch()
        assert process.wait(timeout=600) == 0, lanes.screen
    assert set(lanes.statuses().values()) == {"completed"}
    assert "not like this" in lanes.prompts("1")[1]
    reverts = lanes.git("log", "--format=%H", f"--grep=This reverts commit {sha}", "main").split()
    assert len(reverts) == 1
    assert lanes.git("diff-tree", "--no-commit-id", "--name-only", "-r", reverts[0]).split() == ["work-1.txt"]
    assert sorted(lanes.git("ls-files", "work-*").split()) == ["work-1.txt", "work-2.txt", "work-3.txt"]
    assert lanes.git("status", "--porcelain") == ""


def test_one_task_of_several_that_landed_together_is_taken_back(lanes: LaneProject) -> None:
    lanes.prepare(2)
    both = (
        f'touch "{lanes.outside}/at-$SAMUEL_TASK_ID"; while [ ! -e "{lanes.outside}/at-1" ]; do sleep 0.02; done'
    )
    lanes.task("any", f'{both}; echo x > "work-$SAMUEL_TASK_ID.txt"')
    lanes.start(lanes=2)
    assert lanes.samuel("run", "reject", "1", "no", "--json").data["conflicts"] == []
    assert lanes.git("ls-files", "work-*").split() == ["work-2.txt"]
    assert lanes.git("status", "--porcelain") == ""
    lanes.start(lanes=2)
    assert sorted(lanes.git("ls-files", "work-*").split()) == ["work-1.txt", "work-2.txt"]
