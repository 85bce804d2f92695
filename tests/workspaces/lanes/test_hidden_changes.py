"""Changes that an agent hides from git in its lane: they are judged, and the next attempt begins without them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.workspaces.lanes.project import LaneProject

CHECK = "grep -q right code.txt\n"
HIDING = {
    "assume-unchanged": "git update-index --assume-unchanged test.sh",
    "skip-worktree": "git update-index --skip-worktree test.sh",
    "the time of the file": (
        "touch -r keep test.sh; git config core.trustctime false; git config core.checkStat minimal"
    ),
    "a sparse checkout": "git sparse-checkout set --no-cone '/*' '!/test.sh'",
}
WEAKENED = "# grep right code.txt \n"  # as long as the check


def prepare(lanes: LaneProject, tasks: int) -> None:
    files = {"test.sh": CHECK, "code.txt": "right\n", "keep": ""}
    lanes.prepare(tasks, "max_task_attempts = 1", files=files, checks='["test ! -e test.sh || sh test.sh"]')
    assert len(WEAKENED) == len(CHECK)


@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.slow
def test_weakened_check_that_is_hidden_in_a_lane_does_not_land_and_is_gone_from_it(
    lanes: LaneProject, hiding: str
) -> None:
    prepare(lanes, 5)
    weaken = f"touch -r test.sh keep; echo wrong > code.txt; printf '{WEAKENED}' > test.sh"
    lanes.task("1", f"{weaken}; {HIDING[hiding]}")
    copies = f"{lanes.outside}/$SAMUEL_TASK_ID"
    lanes.task("any", f"sleep 0.2; cp test.sh {copies}.sh; cp code.txt {copies}.txt; date > own-$SAMUEL_TASK_ID")
    lanes.start(lanes=2, code=None)
    tasks = {task["id"]: task["status"] for task in lanes.samuel("run", "tasks", "--json").data}
    assert tasks == {"1": "waiting", **dict.fromkeys("2345", "completed")}
    by_task = {call.task: call.lane for call in lanes.calls()}
    assert by_task["1"] in [by_task[id] for id in "345"]
    for id in "2345":
        assert (lanes.outside / f"{id}.sh").read_text() == CHECK
        assert (lanes.outside / f"{id}.txt").read_text() == "right\n"
    assert lanes.git("show", "main:code.txt") == "right\n"
    (ref,) = lanes.git("for-each-ref", "--format=%(refname)", "refs/samuel/*/1/1").split()
    listing = set(lanes.git("show", "--format=", "--name-only", ref).split())
    assert {"code.txt", "test.sh"} <= listing


@pytest.mark.slow
def test_commit_of_a_lane_has_the_files_that_were_hidden_from_git(lanes: LaneProject, tmp_path: Path) -> None:
    prepare(lanes, 2)
    hide = "git update-index --assume-unchanged code.txt"
    lanes.task("1", f"echo 'right and more' > code.txt; echo 1 > one.txt; {hide}")
    lanes.start(lanes=2)
    subprocess.run(["git", "clone", "-q", lanes.root, tmp_path / "clone"], check=True)
    assert (tmp_path / "clone/code.txt").read_text() == "right and more\n"
