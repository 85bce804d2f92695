"""A run with lanes that is killed, at random or inside a git call of its landing: nothing is lost or doubled.

`make crash` kills it 100 times at random and inside each git call; `make test` tries a few.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from tests.conftest import sh_script
from tests.length import at_length
from tests.workspaces.lanes.project import INSTALLED, LaneProject

LANES = 3
KILLS = at_length(3, 100)
TASKS = at_length(8, 60)

# A git that kills the process group of the coordinator at its n-th writing call, before or after that.
DEADLY_GIT = """#!/bin/sh
case " $* " in
*" update-ref "*|*" read-tree "*|*" merge-tree "*|*" commit-tree "*|*" commit "*|*" checkout "*|*" clean "*) ;;
*) exec {git} "$@" ;;
esac
echo >> {count}
if [ "$(wc -l < {count})" -ge "$(cat {deadly})" ] && mkdir {deadly}.done 2>/dev/null; then
    if [ {before} = 1 ]; then kill -9 -$(cat {pid}); sleep 5; fi
    {git} "$@" & child=$!
    if [ {during} = 1 ]; then sleep 0.002; kill -9 -$(cat {pid}); kill -9 $child; sleep 5; fi
    wait $child; code=$?
    kill -9 -$(cat {pid}); sleep 5
    exit $code
fi
exec {git} "$@"
"""


# At the limit until the time in a file.
LIMITED_UNTIL = """
reset=$(cat {reset})
if [ $(date +%s) -lt $reset ]; then
    info='{{"status": "rejected", "resetsAt": %s}}'
    printf '{{"type": "rate_limit_event", "rate_limit_info": '"$info"'}}\\n' $reset
    printf '{{"type": "result", "subtype": "success", "is_error": true, "result": "%s"}}\\n' \\
        "Claude AI usage limit reached|$reset"
    exit 1
fi
echo 1 > "work-$SAMUEL_TASK_ID.txt"
printf '{{"type": "result", "subtype": "success", "is_error": false, "result": "done"}}\\n'
"""


def resume(project: LaneProject, lanes: int = LANES) -> None:
    ran = project.samuel("run", "start", "--yes", "--parallel", str(lanes), code=None, installed=True)
    assert ran.code == 0, ran.screen


def agents_left(project: LaneProject) -> list[str]:
    """The processes of agents that are still there."""
    mark = str(project.root.parent).encode()  # not those of other tests, which run at the same time
    left = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
        except OSError:
            continue
        if b"agent.sh" in words and mark in words and b"lanes" in words:
            left.append(words.decode(errors="replace"))
    return left


def test_a_run_that_is_killed_at_random_loses_nothing_and_lands_nothing_twice(lanes: LaneProject) -> None:
    lanes.prepare(TASKS)
    lanes.task("any", 'sleep 0.2; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')
    dice, kills = random.Random(7), 0
    for _ in range(KILLS):
        with lanes.running(lanes=LANES) as run:
            deadline = time.monotonic() + dice.uniform(0.3, 3.0)
            while run.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            if run.poll() is not None:
                break
            lanes.kill(run)
            kills += 1
    resume(lanes)

    lanes.assert_sound(TASKS)
    assert len(lanes.calls()) <= TASKS + kills * LANES
    assert lanes.git("status", "--porcelain") == ""
    assert agents_left(lanes) == []


def deadly(project: LaneProject, call: int, when: str) -> None:
    """Put a git on PATH that kills the run at its n-th writing call."""
    programs = project.outside / "deadly"
    programs.mkdir(exist_ok=True)
    git = shutil.which("git")
    script = DEADLY_GIT.format(
        git=git,
        count=project.outside / "count",
        deadly=project.outside / "deadly-call",
        pid=project.outside / "pid",
        before=int(when == "before"),
        during=int(when == "during"),
    )
    (project.outside / "deadly-call").write_text(str(call))
    (project.outside / "count").write_text("")
    (programs / "git").write_text(script)
    (programs / "git").chmod(stat.S_IRWXU)


MOMENTS = ("before", "during", "after")
CALLS = at_length(
    [(9, "before"), (12, "during"), (15, "after")], [(call, when) for call in range(1, 31) for when in MOMENTS]
)


@pytest.mark.slow
@pytest.mark.parametrize(("call", "when"), CALLS)
def test_a_run_that_is_killed_inside_a_git_call_resumes(lanes: LaneProject, call: int, when: str) -> None:
    lanes.prepare(3)
    deadly(lanes, call, when)
    lanes.env["PATH"] = f"{lanes.outside / 'deadly'}:{lanes.env['PATH']}"
    with lanes.running(lanes=2) as run:
        (lanes.outside / "pid").write_text(str(run.pid))
        run.wait(120)
        killed = run.returncode != 0
    assert killed or call > 15, "the run has at least as many writing calls of git"
    if killed:
        resume(lanes, 2)

    lanes.assert_sound(3)
    assert len(lanes.calls()) <= 3 + 2 * killed
    assert lanes.git("status", "--porcelain") == ""


def test_work_that_was_ready_when_the_run_was_killed_is_not_paid_for_again(lanes: LaneProject) -> None:
    go = lanes.outside / "go"
    # The checks of the merge wait, so that the second task is ready while the first one lands.
    check = f'test "$SAMUEL_LANE" != 0 || test -e {go} || test ! -e work-1.txt || sleep 30\n'
    lanes.prepare(3, files={"check.sh": check})
    with lanes.running(lanes=3) as run:

        def ready() -> bool:
            file = lanes.root / ".samuel/run/run.json"
            record = json.loads(file.read_text()) if file.exists() else {}
            active = record.get("active", {})
            return any(entry["result"] for entry in active.values()) and len(lanes.calls("end")) == 3

        lanes.wait_for(ready, run)
        time.sleep(0.5)
        lanes.kill(run)
    record = json.loads((lanes.root / ".samuel/run/run.json").read_text())
    ready_tasks = [task for task, entry in record["active"].items() if entry["result"]]
    assert ready_tasks
    go.touch()
    resume(lanes)

    lanes.assert_sound(3)
    for task in ready_tasks:
        assert len([call for call in lanes.calls() if call.task == task]) == 1


@pytest.mark.slow
def test_a_run_whose_agent_is_killed_goes_on_with_the_other_lanes(lanes: LaneProject) -> None:
    lanes.prepare(3)
    second = lanes.outside / "second"
    lanes.task("2", f"if [ -e {second} ]; then echo 2 > work-2.txt; else touch {second}; kill -9 $$; fi")
    lanes.start()

    lanes.assert_sound(3)
    outcomes = lanes.samuel("run", "status", "--json").data["outcomes"]
    assert outcomes == {"completed": 3, "agent_failed": 1}


@pytest.mark.slow
def test_an_event_that_was_announced_before_a_kill_has_the_same_key_after_it(lanes: LaneProject) -> None:
    lanes.prepare(3)
    pid = lanes.outside / "pid"
    note = f'printf "%s\\n" "$(cat)" >> {lanes.outside}/payloads'
    kill = f"mkdir {lanes.outside}/killed 2>/dev/null && kill -9 -$(cat {pid}) && sleep 5"
    hook = lanes.write(".samuel/hooks/note", sh_script("after:iteration", f'{note}; {kill}; echo "{{}}"'))
    hook.chmod(0o755)
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hook")
    lanes.git("tag", "-f", "begin")
    with lanes.running(lanes=2) as run:
        pid.write_text(str(run.pid))
        assert run.wait(120) == -signal.SIGKILL
    resume(lanes, 2)

    lanes.assert_sound(3)
    payloads = [json.loads(line) for line in (lanes.outside / "payloads").read_text().splitlines()]
    keys = [payload["idempotency_key"] for payload in payloads]
    again = {key for key in keys if keys.count(key) > 1}
    assert len(again) == 1, "the one whose hook was killed is fired again"
    assert len(set(keys)) == 3
    first, second = (payload for payload in payloads if payload["idempotency_key"] in again)
    assert (first["iteration"], first["task"]["id"]) == (second["iteration"], second["task"]["id"])


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_waits_for_a_limit_still_waits(lanes: LaneProject) -> None:
    lanes.prepare(3, agent='stream = "claude"\nclaim = "exit"')
    reset = lanes.outside / "reset"
    lanes.task("any", LIMITED_UNTIL.format(reset=reset))
    reset.write_text(str(int(time.time()) + at_length(12, 30)))
    with lanes.running(lanes=2) as run:
        state = lanes.root / ".samuel/run/run.json"
        lanes.wait_for(lambda: state.exists() and bool(json.loads(state.read_text()).get("waits")), run)
        lanes.kill(run)
    before = len(lanes.calls())
    resume(lanes, 2)

    lanes.assert_sound(3)
    over = float(reset.read_text())
    assert all(call.at >= over for call in lanes.calls()[before:]), "no agent tried before the limit was over"
    assert [lanes.row(id)["attempts"] for id in "123"] == [0, 0, 0]


@pytest.mark.slow
def test_runs_in_two_work_trees_of_a_repository_are_independent(lanes: LaneProject) -> None:
    lanes.prepare(2)
    other = lanes.outside / "other"
    lanes.git("worktree", "add", "-q", "-b", "elsewhere", str(other))
    subprocess.run(
        [*INSTALLED, "run", "init", "--from", "prd.md", "--no-commit"],
        cwd=other,
        env=lanes.env,
        check=True,
        capture_output=True,
    )
    lanes.task("any", 'sleep 0.5; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')
    command = [*INSTALLED, "run", "start", "--yes", "--parallel", "2"]
    with lanes.running(lanes=2) as run:
        second = subprocess.run(command, cwd=other, env=lanes.env, capture_output=True, text=True, timeout=180)
        assert run.wait(180) == 0, lanes.screen
    assert second.returncode == 0, second.stdout + second.stderr

    for branch, root in (("main", lanes.root), ("elsewhere", other)):
        assert sorted(lanes.landed(branch)) == ["1", "2"]
        assert (root / "work-1.txt").exists()
        assert lanes.git("status", "--porcelain", cwd=root) == ""


@pytest.mark.slow
def test_the_second_run_in_the_same_project_says_who_holds_the_lock(lanes: LaneProject) -> None:
    lanes.prepare(1)
    lanes.task("any", f"while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo 1 > w")
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 1, run)
        second = lanes.start(code=None)
        (lanes.outside / "go").touch()
        assert run.wait() == 0
    assert second.code != 0
    assert "is locked by" in second.screen
    assert (lanes.root / "w").exists()


@pytest.mark.slow
def test_the_first_interrupt_lets_attempts_finish_and_land_and_the_second_ends_them(lanes: LaneProject) -> None:
    lanes.prepare(6)
    lanes.task("any", 'sleep 1; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        run.send_signal(signal.SIGINT)
        assert run.wait(120) == 130
    assert sorted(lanes.landed()) == ["1", "2"], lanes.screen
    assert list(lanes.statuses().values()).count("pending") == 4

    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 4, run)
        run.send_signal(signal.SIGINT)
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        assert run.wait(120) == 130
    assert list(lanes.statuses().values()).count("pending") == 4, "what was cut off is pending again"
    assert agents_left(lanes) == []

    resume(lanes, 2)
    assert set(lanes.statuses().values()) == {"completed"}
