"""How a server begins and ends: started by the first call if something is trusted, gone when not asked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.emit.serve.start import STARTING, note_starting

from .served_project import (
    ALLOWED,
    DENIED,
    GUARD,
    NATIVE,
    ServedProject,
    context,
    eventually,
    fake_server,
    is_alive,
    wait_for_end,
    yaml_hook,
)
from .test_faults import says_allow

REASONS = ["untrusted", "changed", "nothing", "off", "nested"]
COLD = (sys.executable, "-m", "samuel", "emit")  # as the native client starts it


@pytest.mark.slow
def test_first_call_starts_a_server_that_answers_the_second(served: ServedProject) -> None:
    """`answer=$(samuel-emit ...)` waits for the process that holds stdout: a server must not."""
    served.files.python_hook("guard", GUARD)
    script = 'answer=$("$@" PreAbilityCall); echo "$? $answer"'
    first = served.run(["sh", "-c", script, "sh", *NATIVE], stdin=DENIED)
    assert first.out == b'2 {"decision":"deny","reason":"not on a Friday"}\n'
    eventually(served.servers, "no server was started")
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    (server,) = served.servers()
    assert server.calls == 1
    assert os.getsid(server.pid) == server.pid
    assert os.readlink(f"/proc/{server.pid}/cwd") == "/"
    for fd in (0, 1, 2):
        assert os.readlink(f"/proc/{server.pid}/fd/{fd}") == "/dev/null"


@pytest.mark.slow
def test_server_survives_the_end_of_its_starters_process_group(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    with subprocess.Popen(
        ["sh", "-c", '"$@" PreAbilityCall; sleep 1000', "sh", *COLD],
        cwd=served.root,
        env=served.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdin
        process.stdin.write(ALLOWED)
        process.stdin.close()
        eventually(served.servers, "no server was started")
        os.killpg(process.pid, signal.SIGKILL)
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    assert served.answered() == 1


@pytest.mark.slow
@pytest.mark.parametrize("reason", at_length(["untrusted", "nested"], REASONS))
def test_no_server_is_started(served: ServedProject, reason: str) -> None:
    """A clone with hooks that are not trusted; a hook that changed since; a call of a hook."""
    more: dict[str, str] = {}
    match reason:
        case "untrusted":
            yaml_hook(served.root, "hook", "PreAbilityCall", "echo '{}'")
        case "changed":
            served.files.python_hook("guard", GUARD).write_text(f"{GUARD}\n")
        case "off" | "nested":
            served.files.python_hook("guard", GUARD)
            more = {"SAMUEL_SERVE": "off"} if reason == "off" else {"SAMUEL_EVENT_ID": "evt-1"}
    served.run(COLD, "PreAbilityCall", stdin=ALLOWED, **more)
    done = served.samuel("serve", "--socket", served.socket(), **more)
    assert done.code == 1
    assert b"no server is started here: " in done.err
    assert served.pids() == []
    assert served.sockets() == []


@pytest.mark.slow
def test_status_and_stop_are_about_the_servers_of_the_project(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    assert served.samuel("serve", "status").out == b"no server is running\n"
    pid = served.start()
    served.warm("PreAbilityCall", stdin=DENIED)
    served.run((*NATIVE, "PreAbilityCall", "--session=x"), stdin=ALLOWED)
    (row,) = json.loads(served.samuel("serve", "status", "--json").out)["data"]
    assert (row["pid"], row["calls"], row["left_to_others"]) == (pid, 1, 1)
    assert row["last_reason"] == "the command line is not a plain one"
    assert served.samuel("serve", "stop").out == f"told the server {pid} to stop\n".encode()
    wait_for_end(pid)
    assert served.sockets() == []
    assert served.samuel("serve", "stop").out == b"no server is running\n"


@pytest.mark.slow
def test_stop_right_after_a_call_stops_the_server_that_the_call_has_started(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.run(COLD, "PreAbilityCall", stdin=ALLOWED)
    output = served.samuel("serve", "stop").out
    assert output.startswith(b"told the server ")
    wait_for_end(int(output.split()[3]))
    assert served.pids() == []
    assert served.sockets() == []


def test_stop_does_not_wait_for_a_server_that_died_before_it_listened(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    with subprocess.Popen(["true"]) as process:
        process.wait()
    note_starting(served.socket(), process.pid)
    assert served.samuel("serve", "stop").out == b"no server is running\n"
    assert not os.path.exists(served.socket() + STARTING)


def test_idle_server_ends(served: ServedProject) -> None:
    served.files.config('[serve]\nidle = "1s"\n')
    served.files.python_hook("guard", GUARD)
    wait_for_end(served.start())
    assert served.sockets() == []


def test_server_ends_with_its_project(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    pid = served.start()
    shutil.rmtree(served.root)
    wait_for_end(pid)


@pytest.mark.slow
def test_killed_server_is_replaced_by_the_next_call(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    pid = served.start()
    os.kill(pid, signal.SIGKILL)
    wait_for_end(pid)
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    eventually(served.servers, "no server was started")
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    assert served.answered() == 1


@pytest.mark.slow
def test_project_has_four_servers_at_most(served: ServedProject) -> None:
    """Each set of variables that hooks see has its own; the fifth does without."""
    served.files.python_hook("guard", GUARD)
    for number in range(4):
        served.start(TZ=f"UTC{number}")
    served.run(COLD, "PreAbilityCall", stdin=ALLOWED, TZ="UTC9")
    assert len(served.servers()) == 4
    assert not [pid for pid in served.pids() if b"UTC9" in Path(f"/proc/{pid}/environ").read_bytes()]


@pytest.mark.slow
def test_second_server_for_the_same_socket_is_refused(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    pid = served.start()
    done = served.samuel("serve", "--socket", served.socket())
    assert (done.code, b"another server listens" in done.err) == (1, True)
    assert is_alive(pid)
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2


def test_client_with_other_variables_meets_another_server(served: ServedProject) -> None:
    """A hook sees TZ, so the server that has another one must not answer."""
    yaml_hook(served.root, "zone", "PreAbilityCall", """printf '{"messages_to_user": ["%s"]}' "$TZ" """)
    served.files.trust()
    served.start(TZ="UTC1")
    served.start(TZ="UTC2")
    for zone in ("UTC1", "UTC2"):
        assert served.warm("PreAbilityCall", stdin=ALLOWED, TZ=zone).err == f"{zone}\n".encode()
    assert served.answered() == 2


@pytest.mark.slow
def test_variable_that_samuel_toml_passes_on_is_the_clients_own(served: ServedProject) -> None:
    served.files.config('pass_env = ["FLAVOUR"]\n')
    yaml_hook(served.root, "hook", "PreAbilityCall", """printf '{"messages_to_user": ["%s"]}' "$FLAVOUR" """)
    served.files.trust()
    served.start(FLAVOUR="salt")
    for flavour in ("salt", "sugar"):
        assert served.warm("PreAbilityCall", stdin=ALLOWED, FLAVOUR=flavour).err == f"{flavour}\n".encode()
    (server,) = served.servers()
    assert (server.calls, server.left_to_others) == (1, 1)


@pytest.mark.slow
def test_call_from_a_project_in_the_project_is_not_answered_by_the_outer_one(served: ServedProject) -> None:
    """The hash in the socket's name tells them apart; the server does too, if asked nonetheless."""
    served.files.python_hook("guard", GUARD)
    served.start()
    inner = served.root / "inner"
    inner.mkdir()
    assert served.warm("PreAbilityCall", stdin=DENIED, cwd=inner).code == 2
    (inner / "samuel.toml").touch()
    answer = served.warm("PreAbilityCall", stdin=context("deploy"), cwd=inner)
    assert (answer.code, b"in the project around this one" in answer.err) == (2, True)
    assert served.answered() == 1


@pytest.mark.slow
def test_runtime_directory_in_the_project_is_not_used(served: ServedProject) -> None:
    """A repository could bring the directory, and a program that it starts the socket."""
    served.files.python_hook("guard", GUARD)
    (served.root / "run/samuel").mkdir(parents=True)
    (served.root / "run/samuel").chmod(0o700)
    place = served.runtime / "link"  # short enough for a socket
    place.symlink_to(served.root / "run")
    path = served.socket(XDG_RUNTIME_DIR=str(place))
    assert path.startswith("/tmp/samuel-")
    with fake_server(f"{place}/samuel/{Path(path).name}", says_allow):
        assert served.warm("PreAbilityCall", stdin=DENIED, XDG_RUNTIME_DIR=str(place)).code == 2
