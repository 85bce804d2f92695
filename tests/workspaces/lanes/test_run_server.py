"""Each agent of a run has a server for its hooks: with the root and the pins of its lane, while the run lasts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.emit.serve.served_project import eventually, is_alive, wait_for_end
from tests.workspaces.lanes.project import INSTALLED, LaneProject

# It is called in a worker, whose parent is the process that answers.
GUARD = """\
import os
import samuel


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    return {"decision": "deny", "reason": f"{os.getppid()} {event.project_root} {event.lane} {event.run_id}"}
"""
# Calls its hook as Claude Code does: as soon as the server listens, and each time a file says so.
CLIENT = """\
import json, os, shlex, subprocess, sys, time

outside, lane = sys.argv[1], os.environ.get("SAMUEL_LANE", "")
hooks = json.loads(sys.argv[sys.argv.index("--settings") + 1])["hooks"]
command = hooks["PreToolUse"][0]["hooks"][0]["command"]
words = shlex.split(shlex.split(command)[2])  # of `sh -c SCRIPT`
path, pid = words[words.index("--server") + 1 : words.index("--server") + 3]
while not os.path.exists(path):
    time.sleep(0.05)


def call(number):
    payload = {"session_id": "own", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/",
               "tool_use_id": f"t{number}", "tool_input": {"command": "echo"}, "transcript_path": "t"}
    done = subprocess.run(command, shell=True, input=json.dumps(payload), text=True, capture_output=True)
    with open(f"{outside}/answers", "a") as file:
        output = json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
        print(json.dumps([os.getcwd(), lane, int(pid), path, output]), file=file)


for number in range(2):
    call(number)
while os.path.exists(f"{outside}/wait"):
    time.sleep(0.05)
if os.path.exists(f"{outside}/again"):
    call(2)
"""


class HookAnswer(NamedTuple):
    """What an agent was answered, and where it was."""

    root: str
    lane: str
    server: int
    socket: str
    reason: str


@pytest.fixture
def guarded(lanes: LaneProject) -> Iterator[LaneProject]:
    lanes.env["SAMUEL_TRUST"] = "all"
    client = lanes.outside / "client.py"
    client.write_text(CLIENT)
    lanes.task("any", f'{INSTALLED[0]} {client} {lanes.outside} "$@"; echo x > "work-$SAMUEL_TASK_ID.txt"')
    lanes.prepare(2, agent='claim = "exit"\nhooks = "claude"', files={".samuel/hooks/guard.py": GUARD})
    yield lanes
    for name in ("wait", "again"):
        (lanes.outside / name).unlink(missing_ok=True)


def answers(project: LaneProject) -> list[HookAnswer]:
    file = project.outside / "answers"
    return [HookAnswer(*json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.slow
def test_each_lane_is_answered_by_a_server_of_its_own_for_its_own_root(guarded: LaneProject) -> None:
    guarded.samuel("run", "start", "--yes", "--parallel", "2", installed=True)
    calls = answers(guarded)
    assert len(calls) == 4
    for call in calls:
        parent, root, lane, run = call.reason.split()
        assert (int(parent), root, lane) == (call.server, call.root, call.lane)
        assert run.startswith("run-")
    assert len({call.server for call in calls}) == len({call.root for call in calls}) == 2
    assert not any(is_alive(call.server) for call in calls)
    assert not any(os.path.exists(os.path.dirname(call.socket)) for call in calls)


@pytest.mark.slow
def test_the_server_ends_when_the_loop_is_killed_and_calls_go_on_without_it(guarded: LaneProject) -> None:
    for name in ("wait", "again"):
        (guarded.outside / name).touch()
    with (guarded.outside / "screen").open("wb") as screen:
        loop = subprocess.Popen(
            [*INSTALLED, "run", "start", "--yes"],
            cwd=guarded.root,
            env=guarded.env,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
        )
    eventually(lambda: len(answers(guarded)) == 2 or loop.poll() is not None, "the agent did not call its hooks")
    assert loop.poll() is None, (guarded.outside / "screen").read_text()
    warm = answers(guarded)[-1]
    assert int(warm.reason.split()[0]) == warm.server
    loop.send_signal(signal.SIGKILL)
    loop.wait()
    wait_for_end(warm.server)
    eventually(lambda: not os.path.exists(os.path.dirname(warm.socket)), "the directory of the socket was left")
    (guarded.outside / "wait").unlink()  # the agent outlives its loop until the run is resumed
    eventually(lambda: len(answers(guarded)) == 3, "the agent was not answered")
    cold = answers(guarded)[-1]
    assert cold.reason.split()[1:] == warm.reason.split()[1:]
    assert int(cold.reason.split()[0]) != warm.server
    eventually(lambda: (guarded.root / "work-1.txt").exists(), "the agent did not end")
