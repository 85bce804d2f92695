"""Boxes in the source of the tasks: ticked in the person's work tree as tasks land, and not by agents."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from tests.workspaces.lanes.project import LaneProject

TASKS = 4
BOXES = "# Product\n\n## Tasks\n\n" + "".join(f"- [ ] {number} Task {number}\n" for number in range(1, TASKS + 1))
TICK = 'sed -i "s/- \\[ \\] $SAMUEL_TASK_ID /- [x] $SAMUEL_TASK_ID /" prd.md\n'
TOGETHER = """touch "{outside}/here-$SAMUEL_TASK_ID"
while [ $(ls {outside}/here-* | wc -l) -lt {tasks} ]; do sleep 0.1; done
"""
COMMIT = "git add -A; git -c user.name=a -c user.email=a@example.org commit -q -m tick\n"


@pytest.mark.parametrize("committed", [False, True])
def test_boxes_that_agents_tick_beside_each_other_are_no_conflict(lanes: LaneProject, committed: bool) -> None:
    lanes.prepare(TASKS, files={"prd.md": BOXES})
    together = TOGETHER.format(outside=lanes.outside, tasks=TASKS)
    work = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"\n'
    lanes.task("any", together + TICK + work + (COMMIT if committed else ""))
    ran = lanes.start(lanes=TASKS)

    lanes.assert_sound(TASKS)
    assert len(lanes.calls()) == TASKS, "no agent was paid twice"
    assert lanes.git("diff", "--name-only", "begin", "main").split() == [
        f"work-{number}.txt" for number in range(1, TASKS + 1)
    ]
    assert (lanes.root / "prd.md").read_text() == BOXES.replace("[ ]", "[x]")
    assert "`prd.md` has the marks of the completed tasks; commit it" in ran.screen


def test_a_box_that_an_agent_ticks_in_a_lane_is_no_work(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": BOXES}, settings="max_task_attempts = 1")
    lanes.task("1", TICK)
    lanes.start(lanes=2, code=None)

    assert (lanes.row("1")["status"], lanes.row("2")["status"]) == ("blocked", "completed")
    assert "stalled" in lanes.row("1")["last_failure"]


# The work on task 2 begins when the box of task 1 is ticked, and fails if it never is.
AFTER_THE_FIRST = """for try in $(seq 600); do grep -q '\\[x\\] 1 ' {root}/prd.md && break; sleep 0.1; done
grep -q '\\[x\\] 1 ' {root}/prd.md || exit 1
echo 2 > work-2.txt
"""
TWO = "# Product\n\nIt is small.\n\n## Tasks\n\n- [ ] 1 First\n- [ ] 2 Second\n"


def after_the_first(lanes: LaneProject, more: str = "") -> None:
    lanes.task("2", AFTER_THE_FIRST.format(root=lanes.root) + more)


def ticked(text: str) -> str:
    return text.replace("[ ]", "[x]")


def test_a_box_is_ticked_when_its_task_has_landed_and_the_work_tree_goes_on_following(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    after_the_first(lanes)
    ran = lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert (lanes.root / "prd.md").read_text() == ticked(TWO)
    assert lanes.git("status", "--porcelain") == " M prd.md\n"
    assert "files in your own work tree were changed" not in ran.screen


def test_ticks_stay_when_work_that_lands_changes_other_lines_of_the_file(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    after_the_first(lanes, "sed -i 's/small/large/' prd.md\n")
    lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert (lanes.root / "prd.md").read_text() == ticked(TWO).replace("small", "large")
    assert lanes.git("show", "main:prd.md") == TWO.replace("small", "large")
    assert lanes.git("diff", "--cached", "--name-only") == ""


def test_what_a_person_writes_into_a_ticked_file_stays_and_work_lands_beside_it(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    after_the_first(lanes, f"echo 'A note of the person.' >> {lanes.root}/prd.md\n")
    ran = lanes.start(lanes=2)

    expected = TWO.replace("[ ] 1", "[x] 1") + "A note of the person.\n"
    assert (lanes.root / "prd.md").read_text() == expected
    assert "your work tree has uncommitted changes: `prd.md`" in ran.screen
    assert lanes.landed("main") == ["1"]


def test_a_box_that_was_ticked_for_no_completed_task_is_a_change_of_the_person(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    after_the_first(lanes, f"sed -i 's/\\[ \\] 2/[x] 2/' {lanes.root}/prd.md\n")
    ran = lanes.start(lanes=2)

    assert "your work tree has uncommitted changes: `prd.md`" in ran.screen
    assert lanes.landed("main") == ["1"]


@pytest.mark.slow
def test_a_later_run_follows_though_the_ticks_of_the_last_one_are_not_committed(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    lanes.task("2", "exit 1")
    lanes.start("--iterations", "2", lanes=2, code=None)
    assert (lanes.root / "prd.md").read_text() == TWO.replace("[ ] 1", "[x] 1")
    (lanes.outside / "tasks/2").unlink()
    lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert (lanes.root / "prd.md").read_text() == ticked(TWO)


@pytest.mark.slow
def test_a_file_whose_line_ends_git_converts_is_ticked_at_the_end(lanes: LaneProject) -> None:
    lanes.prepare(2, files={"prd.md": TWO, ".gitattributes": "prd.md eol=crlf\n"})
    (lanes.root / "prd.md").unlink()
    lanes.git("checkout", "--", "prd.md")
    lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert (lanes.root / "prd.md").read_bytes().decode() == ticked(TWO).replace("\n", "\r\n")


# Kills the run at the first call of git in the person's own work tree that has this word.
DEADLY_GIT = """#!/bin/sh
case " $* " in
*" {word} "*)
    if [ "$(pwd -P)" = {root} ] && grep -q '\\[x\\] 1 ' {root}/prd.md && mkdir {outside}/killed 2>/dev/null; then
        [ {when} = before ] || {git} "$@"
        kill -9 -$(cat {outside}/pid); sleep 5
    fi;;
esac
exec {git} "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("word", ["update-index", "read-tree", "update-ref"])
def test_a_run_that_is_killed_while_ticks_are_carried_over_has_them_when_it_resumes(
    lanes: LaneProject, word: str, when: str
) -> None:
    lanes.prepare(2, files={"prd.md": TWO})
    after_the_first(lanes, "sed -i 's/small/large/' prd.md\n")
    programs = lanes.outside / "deadly"
    programs.mkdir()
    git, root = shutil.which("git"), Path(lanes.root).resolve()
    script = DEADLY_GIT.format(git=git, root=root, outside=lanes.outside, word=word, when=when)
    (programs / "git").write_text(script)
    (programs / "git").chmod(stat.S_IRWXU)
    path = lanes.env["PATH"]
    lanes.env["PATH"] = f"{programs}:{path}"
    with lanes.running(lanes=2) as run:
        (lanes.outside / "pid").write_text(str(run.pid))
        assert run.wait(120) != 0, lanes.screen
    lanes.env["PATH"] = path
    lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert (lanes.root / "prd.md").read_text() == ticked(TWO).replace("small", "large")
    assert lanes.git("diff", "--cached", "--name-only") == ""
