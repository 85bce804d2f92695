"""Checks in lanes get the same HOME and the same environment as those in the person's own tree."""

from __future__ import annotations

from tests.workspaces.lanes.project import LaneProject

# The tool is what `prepare` makes, and HOME must be as it was before the first agent.
CHECK = 'test ! -e broken && test "$(node_modules/tool)" = "$(cat requirements.txt)" && test ! -e "$HOME/.evil"\n'
PREPARE = (
    "mkdir -p node_modules && { echo '#!/bin/sh'; echo echo $(cat requirements.txt); } > node_modules/tool && "
)


def test_lanes_prepare_for_other_inputs_and_do_not_see_what_agents_wrote_into_home(lanes: LaneProject) -> None:
    lanes.prepare(
        2,
        settings=f'prepare = """{PREPARE}chmod +x node_modules/tool"""\nmax_task_attempts = 1',
        files={"requirements.txt": "one\n", ".gitignore": "node_modules/\n", "check.sh": CHECK},
    )
    lanes.task("1", "touch $HOME/.evil; echo two > requirements.txt")
    lanes.task("2", "touch $HOME/.evil; echo 2 > two.txt")
    ran = lanes.start(lanes=2, code=None)
    tasks = {task["id"]: task["status"] for task in lanes.samuel("run", "tasks", "--json").data}
    assert tasks == {"1": "completed", "2": "completed"}, ran.screen
    assert (lanes.home / ".evil").exists()
