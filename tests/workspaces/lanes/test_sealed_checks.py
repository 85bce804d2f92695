"""Sealed checks with several agents at once: the same grades, and what lands passes them on the merge as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workspaces.lanes.project import LaneProject

TASKS = {"1": "Kind: fix", "2": "Kind: fix"}
# Task 1 is about the word one, task 2 about two; and both words must not be there at once in `shared.txt`.
SEALED = """\
#!/bin/sh
grep -q "task $SAMUEL_TASK_ID" "work-$SAMUEL_TASK_ID.txt" || {
    echo "the secret"
    echo "the file does not name its task" > "$SAMUEL_MESSAGE_FILE"
    exit 1
}
"""


@pytest.fixture
def acceptance(lanes: LaneProject) -> Path:
    directory = lanes.outside / "acceptance"
    directory.mkdir()
    file = directory / "run"
    file.write_text(SEALED)
    file.chmod(0o755)
    return file


def graded(lanes: LaneProject, parallel: int) -> dict[str, str]:
    lanes.prepare(TASKS, settings='sealed_checks = ["../outside/acceptance/run"]\ncommit = true')
    lanes.task("any", 'echo "task $SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"\n')
    lanes.start(lanes=parallel)
    return {task["id"]: task["grade"] for task in lanes.samuel("run", "tasks", "--json").data}


@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.usefixtures("acceptance")
def test_sealed_checks_prove_the_same_in_lanes_and_in_the_own_tree(lanes: LaneProject, parallel: int) -> None:
    assert graded(lanes, parallel) == {"1": "proven", "2": "proven"}
    if parallel > 1:
        lanes.assert_sound(2)


@pytest.mark.usefixtures("acceptance")
def test_work_that_fails_a_sealed_check_does_not_land(lanes: LaneProject) -> None:
    lanes.prepare(TASKS, settings='sealed_checks = ["../outside/acceptance/run"]\nmax_task_attempts = 1')
    lanes.task("1", "echo nothing > work-1.txt\n")
    lanes.task("2", "echo task 2 > work-2.txt\n")
    lanes.start(lanes=2, code=1)
    assert lanes.statuses() == {"1": "blocked", "2": "completed"}
    assert lanes.landed() == ["2"]
    failure = lanes.row("1")["last_failure"]
    assert "the sealed check `run` ended with exit code 1: the file does not name its task" in failure
    assert "secret" not in failure


def test_merge_that_fails_a_sealed_check_does_not_land(lanes: LaneProject, acceptance: Path) -> None:
    acceptance.write_text("#!/bin/sh\ntest ! -e work-1.txt || test ! -e work-2.txt\n")
    lanes.prepare(
        TASKS, settings='sealed_checks = ["../outside/acceptance/run"]\nmax_task_attempts = 1\nproof = "off"'
    )
    for task, other in (("1", "2"), ("2", "1")):
        wait = f"while [ ! -e {lanes.outside}/begun-{other} ]; do sleep 0.05; done"
        lanes.task(task, f"touch {lanes.outside}/begun-{task}\n{wait}\necho x > work-{task}.txt\n")
    lanes.start(lanes=2, code=1)
    assert sorted(lanes.statuses().values()) == ["blocked", "completed"]
    assert len(lanes.landed()) == 1
    blocked = next(id for id, status in lanes.statuses().items() if status == "blocked")
    assert "fail on the merge" in lanes.row(blocked)["last_failure"]


@pytest.mark.usefixtures("acceptance")
def test_other_machines_are_refused_before_an_agent_is_paid(lanes: LaneProject) -> None:
    lanes.prepare(1, settings='sealed_checks = ["../outside/acceptance/run"]')
    ran = lanes.samuel("run", "start", "--yes", "--place", "ssh:build1:2", code=1)
    assert ran.err == (
        "error: sealed checks cannot judge work on other machines: it is judged where its agent could read them\n"
        "leave `--place` out; `--parallel N` lets several agents work on this machine\n"
    )
    assert lanes.calls() == []
