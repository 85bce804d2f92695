"""Agents in a sandbox that is really there: `samuel` works inside, and the whole thing dies with Samuel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, NoReturn

import pytest

from samuel.agents.check import missing_in
from samuel.clients.adapter.agent import Agent, AgentHome
from samuel.clients.table import AGENTS
from samuel.confine import sandbox as sandboxes
from samuel.version import __version__


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")


@pytest.fixture(autouse=True)
def _only_where_it_works(desk: Any, box: Any) -> None:
    if why := sandboxes.missing(box("bwrap"), sandboxes.Workspace(desk.root, desk.state, desk.host)):
        cannot(why)


def test_samuel_is_this_one_inside_too_and_cannot_be_replaced(desk: Any, box: Any) -> None:
    body = (
        "samuel --version; echo evil > $(command -v samuel) || echo kept; echo ok > .samuel/run/file; echo $MARK"
    )
    done = desk.run(desk.sh(body, confined={"MARK": "fenced in"}), sandbox=box("bwrap"))
    assert done.stdout_tail.splitlines() == [f"samuel {__version__}", "kept", "fenced in"]
    assert (desk.state / "file").read_text() == "ok\n"
    assert "fenced in" not in desk.run(desk.sh("echo $MARK", confined={"MARK": "fenced in"})).stdout_tail


def test_an_agent_s_own_directory_is_where_its_variable_says(desk: Any, box: Any, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "auth").write_text("key\n")
    (own / "log").write_text("long\n")
    agent = desk.sh('ls "$OWN"; echo x > "$OWN/new"', env=("OWN",), homes=(AgentHome("OWN", ".own", ("auth",)),))
    done = desk.run(agent, sandbox=box("bwrap"), environment={**desk.host, "OWN": str(own)})
    assert (done.exit_code, done.stdout_tail) == (0, "auth\n")
    assert sorted(os.listdir(own)) == ["auth", "log"]


def test_whether_the_program_is_there_is_asked_inside(desk: Any, box: Any) -> None:
    place = sandboxes.Workspace(desk.root, desk.state, {**desk.host, "HOME": str(desk.root)})
    desk.recorder("claude")  # below /tmp, which is hidden inside, and not in the home directory
    assert "`claude`, which the sandbox `bwrap` does not have; to install it: npm" in missing_in(
        AGENTS["claude"], box("bwrap"), place
    )
    assert missing_in(Agent("a", ("sh",)), box("bwrap"), place) == ""


def test_program_below_tmp_is_said_to_be_hidden_in_bubblewrap(desk: Any, box: Any) -> None:
    place = sandboxes.Workspace(desk.root, desk.state, {**desk.host, "HOME": str(desk.root)})
    assert missing_in(Agent("a", ("/tmp/no-such-place/bin/python3",)), box("bwrap"), place) == (
        "the agent `a` needs `/tmp/no-such-place/bin/python3`, which is hidden in the sandbox `bwrap`: "
        "it has a `/tmp` of its own; install it elsewhere"
    )


def test_when_samuel_is_killed_the_agent_is_too(desk: Any) -> None:
    mark = uuid.uuid4().hex
    code = f"""
import sys
from pathlib import Path
from types import SimpleNamespace
from samuel.clients.adapter.agent import Agent
from samuel.agents.invoke import AgentCall, AgentLimits, AgentSurroundings, invoke
body = "setsid sh -c 'while :; do sleep 0.1; done' & echo up; wait"
sandbox = SimpleNamespace(kind="bwrap", image=None, network=True, volumes=[])
where = AgentSurroundings(root=Path({str(desk.root)!r}), state=Path({str(desk.state)!r}), sandbox=sandbox,
                          environment={desk.host!r})
call = AgentCall(prompt="", iteration=1, variables={{"SAMUEL_TEST_MARK": {mark!r}}})
invoke(Agent("a", ("/bin/sh", "-c", body)), call, where, AgentLimits(timeout=60.0),
       on_output=lambda chunk: (sys.stdout.buffer.write(chunk), sys.stdout.flush()))
"""
    killed = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"up\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    until = time.monotonic() + 120
    while left := carriers(mark):
        assert time.monotonic() < until, left
        time.sleep(0.02)
    killed.stdout.close()


def carriers(mark: str) -> list[str]:
    environments = map(str, Path("/proc").glob("[0-9]*/environ"))
    return subprocess.run(["grep", "-ls", mark, *environments], capture_output=True, text=True).stdout.split()
