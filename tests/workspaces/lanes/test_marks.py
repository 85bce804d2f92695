"""Boxes in the source of the tasks that agents tick themselves, several at once in lines beside each other."""

from __future__ import annotations

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
    assert len(lanes.calls()) == TASKS, "nobody was paid twice"
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
