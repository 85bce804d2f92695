"""The server of a run's agent: the answers of a process of its own, given by the process that is named alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from tests.conftest import Marked
from tests.length import at_length

from samuel.emit.call import STDOUT, EmitAnswer
from samuel.emit.serve import wire
from samuel.testing import SamuelProject

from .agent_in_run import GUARD, POST, PRE, SETTINGS, AgentInRun, agent_in_run, finished, payload
from .served_project import eventually, fake_server, is_alive, read_header, wait_for_end

CLIENTS = at_length(["native"], ["native", "python"])


@pytest.fixture
def project(samuel_project: SamuelProject, marked: Marked, monkeypatch: pytest.MonkeyPatch) -> SamuelProject:
    """With a guard; nothing of a test may be left running."""
    monkeypatch.delenv("SAMUEL_SERVE")
    samuel_project.config(SETTINGS)
    samuel_project.hook("helper.txt", "beside the guard", executable=False)
    samuel_project.python_hook("guard", GUARD)
    return samuel_project


@pytest.fixture
def agent(project: SamuelProject) -> Iterator[AgentInRun]:
    with agent_in_run(project) as agent:
        yield agent


def with_client(agent: AgentInRun, client: str) -> AbstractContextManager[None]:
    return agent.thin() if client == "python" else nullcontext()


# The same answers


@pytest.mark.parametrize(
    ("data", "event", "answer"),
    [
        (payload("rm victim.txt"), PRE, b"the victim stays"),
        (payload("echo hi"), PRE, b""),
        (payload("rewrite me"), PRE, b"echo rewritten"),
        (payload("echo hi", POST), POST, b"that was echo hi"),
        (payload("echo hi", tool_name="Unheard"), PRE, b""),
        (b"{", PRE, b"is not JSON"),
        (b"", PRE, b""),
        (b'{"hook_event_name": "PreToolUse"}', PRE, b"cannot read the payload"),
        (b"x" * 17_000_000, PRE, b"deny"),
    ],
    ids=["deny", "allow", "rewrite", "observe", "other tool", "not JSON", "nothing", "no tool", "too long"],
)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_of_a_run_answers_as_a_process_of_its_own_does(
    agent: AgentInRun, data: bytes, event: str, answer: bytes, client: str
) -> None:
    before = agent.status.calls
    with with_client(agent, client):
        warm = agent.warm(data, event)
    assert agent.status.calls == before + 1, agent.status.last_reason
    assert warm == agent.cold(data, event)
    assert answer in warm.out + warm.err


def weaken(root: Path) -> None:
    hook = root / ".samuel/hooks/guard.py"
    hook.write_text(hook.read_text().replace('"victim" in command', "False"))


def set_handlers(root: Path) -> None:
    with (root / "samuel.toml").open("a") as file:
        file.write("[hooks.PreAbilityCall]\nhandlers = []\n")


def remove_project(root: Path) -> None:
    (root.parent / "samuel.toml").write_text("")  # then the project is the directory above
    (root / "samuel.toml").unlink()


CHANGES: dict[str, Callable[[Path], object]] = {
    "the guard is weakened": weaken,
    "the guard is removed": lambda root: (root / ".samuel/hooks/guard.py").unlink(),
    "a file beside the guard": lambda root: (root / ".samuel/hooks/helper.txt").write_text("changed"),
    "samuel.toml": set_handlers,
    "samuel.toml is broken": lambda root: (root / "samuel.toml").write_text("["),
    "samuel.toml is removed": remove_project,
    "another guard": lambda root: (root / ".samuel/hooks/more.py").write_text(GUARD.replace("def guard", "def g")),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("trust_everything", [False, True], ids=["agreed", "everything"])
def test_a_change_by_the_agent_denies_as_it_does_without_the_server(
    project: SamuelProject, change: str, trust_everything: bool
) -> None:
    with agent_in_run(project, trust_everything=trust_everything) as agent:
        harmless = payload("echo hi")
        allowed = agent.warm(harmless)
        assert (allowed.code, b"deny" in allowed.out) == (0, False)
        before = {file: file.read_bytes() for file in agent.root.rglob("*") if file.name in FILES}
        CHANGES[change](agent.root)
        denied = agent.warm(harmless)
        assert denied == agent.cold(harmless)
        if (change, trust_everything) != ("another guard", False):  # one that was not agreed to is not called
            assert b"deny" in denied.out or denied.code == 2
        for file in (agent.root / ".samuel/hooks/more.py", agent.root.parent / "samuel.toml"):
            file.unlink(missing_ok=True)
        for file, data in before.items():
            file.write_bytes(data)
        assert agent.warm(harmless) == allowed


OF_EACH_CALL = ("SAMUEL_CALL=", "SAMUEL_EVENT_ID=", "SAMUEL_DEADLINE=")
FILES = ("samuel.toml", "guard.py", "helper.txt")


@pytest.mark.slow
def test_variables_that_a_client_sets_do_not_reach_the_hooks(project: SamuelProject) -> None:
    project.hook("show", '#!/bin/sh\n[ "$1" = hook ] && echo PreAbilityCall && exit\nenv > "$PWD/variables.txt"\n')
    with agent_in_run(project) as agent:
        variables_file = agent.root / "variables.txt"
        variables = []
        for call in (agent.warm, agent.cold):
            call(payload("echo hi"), PATH="/planted:/usr/bin:/bin", TERM="planted", SAMUEL_TASK_ID="planted")
            assert agent.status.calls == 1, agent.status.last_reason
            lines = variables_file.read_text().splitlines()
            variables_file.unlink()
            variables.append({line for line in lines if not line.startswith(OF_EACH_CALL)})
        assert variables[0] == variables[1]
        assert not any("planted" in line for line in variables[0])


@pytest.mark.parametrize(
    "variables",
    [
        {"HOME": "/planted", "LANG": "C", "TMPDIR": "/planted", "SAMUEL_RUN_ID": "planted"},
        {"SAMUEL_PINNED": "planted", "SAMUEL_PROJECT_ROOT": "/planted", "SAMUEL_SERVE": "on"},
        {"TERM": "planted", "OTHER": "planted", "CLAUDE_PROJECT_DIR": "/tmp"},
    ],
    ids=["of the user", "of the run", "others"],
)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_answers_whatever_the_client_makes_of_the_variables_of_the_run(
    agent: AgentInRun, variables: dict[str, str], client: str
) -> None:
    with with_client(agent, client):
        warm = agent.warm(payload("rm victim.txt"), **variables)
    assert agent.status.calls == 1, agent.status.last_reason
    assert warm == agent.cold(payload("rm victim.txt"), **variables)
    assert b"the victim stays" in warm.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "variable", ["PYTHONDONTWRITEBYTECODE", "http_proxy", "LC_MINE", "SAMUEL_MINE", "DOCKER_HOST", "MINE"]
)
@pytest.mark.parametrize("client", CLIENTS)
def test_variables_that_decide_and_that_a_run_does_not_pin_make_a_call_cold(
    project: SamuelProject, variable: str, client: str
) -> None:
    project.config(f'pass_env = ["MINE"]\n{SETTINGS}')
    with agent_in_run(project) as agent:
        with with_client(agent, client):
            answer = agent.warm(payload("rm victim.txt"), **{variable: "1"})
        assert b"the victim stays" in answer.out
        assert agent.status.calls == 0
        assert "than the server" in agent.status.last_reason


@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_answers_in_whatever_directory_the_client_starts_its_hook(
    agent: AgentInRun, client: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    with with_client(agent, client):
        answer = finished(agent.started(payload("rm victim.txt"), directory=str(other)))
    assert agent.status.calls == 1, agent.status.last_reason
    assert b"the victim stays" in answer.out
    assert (agent.root / "called").exists()


@pytest.mark.slow
@pytest.mark.parametrize("client", ["native", "python"])
def test_a_hook_in_a_directory_that_was_removed_is_answered(
    agent: AgentInRun, client: str, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    with with_client(agent, client):
        agent.commands = {event: f"rmdir {gone}; {line}" for event, line in agent.commands.items()}
        answer = finished(agent.started(payload("rm victim.txt"), directory=str(gone)))
    assert b"the victim stays" in answer.out


@pytest.mark.slow
def test_a_root_that_is_no_project_any_more_is_left_to_a_process_of_its_own(agent: AgentInRun) -> None:
    """As the check of `samuel emit` has it: the hooks of the directory above must not judge for the run."""
    allowed = agent.warm(payload("echo hi"))
    assert allowed.code == 0
    remove_project(agent.root)
    denied = agent.warm(payload("echo hi"))
    assert b"but the project here is" in denied.out
    assert denied == agent.cold(payload("echo hi"))
    assert agent.status.last_reason == "the directory belongs to another project"


# Another process in its place


class Impostor:
    """Allows whatever it is asked, in the words of a server."""

    def __init__(self) -> None:
        self.questions = 0

    def __call__(self, connection: socket.socket) -> None:
        read_header(connection)
        self.questions += 1
        answer = EmitAnswer(0, ((STDOUT, '{"planted": true}\n'),))
        connection.sendall(wire.frame(wire.ANSWER, wire.encode_answer(answer, "utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("client", ["native", "python"])
@pytest.mark.parametrize("server_lives", [True, False], ids=["beside the server", "after it was killed"])
def test_an_impostor_at_the_path_is_not_asked(agent: AgentInRun, client: str, server_lives: bool) -> None:
    if not server_lives:
        os.kill(agent.pid, signal.SIGKILL)
    impostor = Impostor()
    with fake_server(agent.socket, impostor), with_client(agent, client):
        answer = agent.warm(payload("rm victim.txt"))
    assert b"the victim stays" in answer.out
    assert impostor.questions == 0


@pytest.mark.slow
@pytest.mark.parametrize("client", ["native", "python"])
def test_the_time_when_a_process_started_is_compared_and_not_only_its_number(
    agent: AgentInRun, client: str
) -> None:
    with with_client(agent, client), agent.with_server(born=agent.born + 1):
        answer = agent.warm(payload("rm victim.txt"))
    assert b"the victim stays" in answer.out
    assert agent.status.calls == 0


@pytest.mark.slow
@pytest.mark.parametrize("client", ["native", "python"])
def test_a_number_of_another_process_is_not_asked_even_if_it_listens(agent: AgentInRun, client: str) -> None:
    impostor = Impostor()
    with (
        fake_server(agent.socket, impostor),
        with_client(agent, client),
        agent.with_server(pid=os.getpid()),
    ):
        answer = agent.warm(payload("rm victim.txt"))
    assert b"the victim stays" in answer.out
    assert impostor.questions == 0


# Faults


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_that_is_killed_before_a_call_is_done_without(agent: AgentInRun, client: str) -> None:
    os.kill(agent.pid, signal.SIGKILL)
    wait_for_end(agent.pid)
    with with_client(agent, client):
        assert b"the victim stays" in agent.warm(payload("rm victim.txt")).out
        assert agent.warm(payload("echo hi")).code == 0
    assert agent.calls_of_guard() == 2


@pytest.mark.parametrize("client", ["native", "python"])
def test_without_the_server_and_the_launcher_a_call_is_denied(agent: AgentInRun, client: str) -> None:
    missing = {"path": "/no/such/socket", "fallback": "/no/such/launcher"}
    with with_client(agent, client), agent.with_server(**missing):
        denied = agent.warm(payload("echo hi"))
        after = agent.warm(payload("echo hi", POST), POST)
    assert (denied.code, denied.out) == (2, b"")
    assert b"cannot start `/no/such/launcher`" in denied.err
    assert b"cannot start `/no/such/launcher`" in after.err
    assert agent.calls_of_guard() == 0


def test_without_the_client_of_the_server_a_call_is_denied(agent: AgentInRun) -> None:
    with agent.started_as("/no/such/samuel-emit", "--server", agent.socket, "1", "1", str(agent.launcher)):
        denied = agent.warm(payload("echo hi"))
        after = agent.warm(payload("echo hi", POST), POST)
    assert (denied.code, denied.out) == (2, b"")
    assert b"samuel-emit was moved, failed or took too long, so this is denied\n" in denied.err
    assert (after.code, after.out, after.err) == (0, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize("then", [signal.SIGKILL, None], ids=["killed", "stopped for good"])
def test_a_server_that_stops_before_it_takes_a_call_is_done_without(
    agent: AgentInRun, then: signal.Signals | None
) -> None:
    os.kill(agent.pid, signal.SIGSTOP)
    call = agent.started(payload("rm victim.txt"))
    if then is not None:
        time.sleep(0.3)  # the client has sent its header by now, or finds no server: both are right
        os.kill(agent.pid, then)
    assert b"the victim stays" in finished(call).out
    assert agent.calls_of_guard() == 1


def test_a_server_that_is_killed_while_a_handler_runs_denies_and_calls_no_handler_twice(
    agent: AgentInRun,
) -> None:
    call = agent.started(payload("hang"))
    eventually(agent.calls_of_guard, "the guard was not called")
    os.kill(agent.pid, signal.SIGKILL)
    answer = finished(call)
    assert b'"deny"' in answer.out
    assert b"it ended before the hooks did" in answer.out
    assert agent.calls_of_guard() == 1


@pytest.mark.slow
def test_a_handler_that_hangs_holds_up_no_other_call(agent: AgentInRun) -> None:
    hanging = agent.started(payload("hang"))
    eventually(agent.calls_of_guard, "the guard was not called")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(agent.warm, [payload("rm victim.txt")] * 8))
    assert all(b"the victim stays" in answer.out for answer in answers)
    assert hanging.poll() is None
    assert agent.status.calls == 8
    (agent.root / "go-on").touch()
    assert finished(hanging).code == 0


# Its life


@pytest.mark.slow
def test_the_server_ends_with_the_agent_and_leaves_nothing(project: SamuelProject) -> None:
    with agent_in_run(project) as agent:
        pid, path = agent.pid, agent.socket
        agent.warm(payload("echo hi"))
        assert agent.status.ends_after_idle_s is None  # an agent may think for long
        assert is_alive(pid)
    assert not is_alive(pid)
    assert not os.path.exists(os.path.dirname(path))


def test_a_killed_server_leaves_no_handler_behind_when_the_agent_has_ended(project: SamuelProject) -> None:
    with agent_in_run(project) as agent:
        call = agent.started(payload("hang"))
        eventually(agent.calls_of_guard, "the guard was not called")
        os.kill(agent.pid, signal.SIGKILL)
        finished(call)
        path = agent.socket
    assert not os.path.exists(os.path.dirname(path))


def test_no_server_is_started_where_it_is_switched_off(
    project: SamuelProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_SERVE", "off")
    with agent_in_run(project) as agent:
        assert not agent.names_server
        assert b"the victim stays" in agent.warm(payload("rm victim.txt")).out


def test_no_server_is_started_for_an_agent_in_a_sandbox(project: SamuelProject) -> None:
    project.config(SETTINGS.replace("[agents.mine]", 'sandbox = "bwrap"\n[agents.mine]'))
    with agent_in_run(project) as agent:
        assert not agent.names_server


def test_the_socket_is_in_a_directory_that_nobody_else_can_enter(agent: AgentInRun) -> None:
    assert os.stat(os.path.dirname(agent.socket)).st_mode & 0o777 == 0o700
    assert os.stat(agent.socket).st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_server_of_a_run_that_somebody_else_starts_removes_nothing(
    project: SamuelProject, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    (place / "file").touch()
    words = [sys.executable, "-P", "-m", "samuel", "-C", str(project.root), "serve", "--for-run"]
    refused = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (
        2,
        "error: the server of a run is started by the loop alone",
    )
    options = ["--socket", str(place / "socket"), "--installation", "/nowhere"]
    done = subprocess.run([*words, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(place) == ["file"]
