"""Who is answered: only a process of the same user that is confined as the server is."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.emit.serve import wire
from samuel.emit.serve.peer import status_line
from samuel.process.live import registered

from .served_project import DENIED, GUARD, INSTALLATION, NATIVE, THIN, ServedProject, eventually, read_frame

FILTER = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))  # BPF: return ALLOW
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
for _ in range(int(sys.argv[1])):
    assert libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
os.execv(sys.argv[2], sys.argv[2:])
"""


def filtered(count: int) -> tuple[str, ...]:
    return (sys.executable, "-c", FILTER, str(count))


@pytest.fixture
def guarded(served: ServedProject) -> ServedProject:
    served.files.python_hook("guard", GUARD)
    return served


def is_left(served: ServedProject, wrapper: Sequence[str], reason: str) -> None:
    """The call is answered, but not by the server."""
    assert served.run((*wrapper, *NATIVE), "PreAbilityCall", stdin=DENIED).code == 2
    (server,) = [server for server in served.servers() if server.socket == served.socket()]
    # The native client asks, and `samuel emit`, which it becomes, asks once more.
    assert (server.calls, server.left_to_others, server.last_reason) == (0, 1, reason)


@pytest.mark.slow
@pytest.mark.parametrize("kind", at_length(["--net"], ["--net", "--mount", "--user", "--pid"]))
def test_client_in_another_namespace_is_left_to_itself(guarded: ServedProject, kind: str) -> None:
    wrapper = ["unshare", *(("--map-root-user", kind) if kind == "--user" else (kind, "--fork"))]
    if subprocess.run([*wrapper, "true"], capture_output=True).returncode:
        pytest.skip(f"NOT TESTED: `unshare {kind}` is not allowed here")
    guarded.start()
    is_left(guarded, wrapper, "the caller runs in another sandbox or namespace than the server")


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrapper",
    [
        ("setpriv", "--no-new-privs"),
        filtered(1),
        ("sh", "-c", 'umask 077; exec "$@"', "sh"),
    ],
    ids=["no new privileges", "system calls", "umask"],
)
def test_client_that_is_confined_is_left_to_itself(guarded: ServedProject, wrapper: Sequence[str]) -> None:
    guarded.start()
    is_left(guarded, wrapper, "the caller runs in another sandbox or namespace than the server")


@pytest.mark.slow
def test_client_with_one_more_filter_of_system_calls_than_the_server_is_left(guarded: ServedProject) -> None:
    """As in a container, where every process has a filter, and a sandboxed agent in it one more."""
    program = [*filtered(1), INSTALLATION + "/samuel", "serve", "--socket", guarded.socket()]
    words = [*program, "--installation", INSTALLATION]
    with subprocess.Popen(words, cwd=guarded.root, env=guarded.environment) as server:
        eventually(Path(guarded.socket()).exists, "no server")
        assert guarded.run((*filtered(1), *NATIVE), "PreAbilityCall", stdin=DENIED).code == 2
        assert guarded.run((*filtered(2), *NATIVE), "PreAbilityCall", stdin=DENIED).code == 2
        status = subprocess.run(
            [*filtered(1), f"{INSTALLATION}/samuel", "serve", "status", "--json"],
            cwd=guarded.root, env=guarded.environment, capture_output=True, text=True,
        )  # fmt: skip
        server.terminate()
    assert '"calls": 1,' in status.stdout
    assert '"left_to_others": 1,' in status.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can be another user")
def test_another_user_is_refused_even_if_all_doors_are_open(guarded: ServedProject) -> None:
    guarded.start()
    path = guarded.socket()
    for place in (guarded.runtime, guarded.runtime / "samuel"):
        place.chmod(0o755)
    Path(path).chmod(0o666)
    program = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "connection = socket.socket(socket.AF_UNIX); connection.connect(sys.argv[1])\n"
        "connection.sendall(sys.stdin.buffer.read())\n"
        "sys.stdout.buffer.write(connection.recv(4096))\n"
    )
    for command in (wire.EMIT, wire.STATUS, wire.STOP):
        fields = (command, b"0.1.0", INSTALLATION.encode(), str(guarded.root).encode(), b"")
        header = wire.header(fields, [b"PreAbilityCall"], [])
        done = subprocess.run(
            ["/usr/bin/env", "-i", sys.executable, "-c", program, path], input=header, capture_output=True
        )
        assert done.stdout[5:] == b"the caller is another user", done.stderr
    for place in (guarded.runtime, guarded.runtime / "samuel"):
        place.chmod(0o700)
    assert guarded.status()


@pytest.mark.slow
def test_client_inside_a_run_is_left_to_itself(guarded: ServedProject) -> None:
    """Its agent is watched: what its hooks do has to be below the run."""
    guarded.start()
    with registered(guarded.files.user.live, "run-1"):  # this process is the run
        is_left(guarded, (), "the caller does not belong to the same runs as the server")


@pytest.mark.slow
def test_no_server_is_started_inside_a_run(guarded: ServedProject) -> None:
    with registered(guarded.files.user.live, "run-1"):
        cold = (sys.executable, "-m", "samuel", "emit")
        assert guarded.run(cold, "PreAbilityCall", stdin=DENIED).code == 2
    assert guarded.pids() == []
    assert guarded.sockets() == []


def test_client_of_another_project_is_left(guarded: ServedProject, tmp_path: Path) -> None:
    """It would have to ask at the wrong socket; then its directory tells."""
    guarded.start()
    other = tmp_path / "other"
    other.mkdir()
    (other / "samuel.toml").touch()
    for directory in (str(other).encode(), b"/", b"/no/such/place", b""):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(guarded.socket())
            fields = (wire.EMIT, b"0.1.0", INSTALLATION.encode(), directory, guarded.proof())
            connection.sendall(wire.header(fields, [b"PreAbilityCall"], []))
            assert read_frame(connection)[5:] == b"the directory belongs to another project"


def test_tools_of_these_tests_are_there() -> None:
    assert shutil.which("unshare")
    assert shutil.which("setpriv")
    assert ctypes.CDLL(None).prctl


def test_line_that_a_kernel_does_not_have_is_the_same_for_everybody() -> None:
    """The count of filters is in the status since Linux 5.9."""
    status = b"Name:\tpython\nUmask:\t0022\nSeccomp:\t0\n"
    assert status_line(status, b"\nUmask:") == b"Umask:\t0022"
    assert status_line(status, b"\nSeccomp_filters:") == b""


LANDLOCK = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
handled = int(sys.argv[1])
attributes = ctypes.create_string_buffer(struct.pack("Q", handled))
ruleset = libc.syscall(444, attributes, 8, 0)  # landlock_create_ruleset
if ruleset < 0:
    sys.exit(99)
if sys.argv[2] == "yes":
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
if libc.syscall(446, ruleset, 0) != 0:  # landlock_restrict_self
    sys.exit(99)
os.execv(sys.argv[3], sys.argv[3:])
"""
WRITE_FILE, MAKE_SOCKET = 1 << 1, 1 << 9  # what its rules are about: everything of this kind is refused


def landlocked(handled: int, no_new_privileges: str = "no") -> tuple[str, ...]:
    wrapper = (sys.executable, "-c", LANDLOCK, str(handled), no_new_privileges)
    if subprocess.run([*wrapper, "/bin/true"]).returncode:
        pytest.skip("NOT TESTED: this process cannot be confined by landlock here")
    return wrapper


@pytest.mark.parametrize("client", [NATIVE, THIN], ids=["native", "python"])
@pytest.mark.parametrize("handled", [WRITE_FILE, MAKE_SOCKET], ids=["may write nothing", "may make no socket"])
def test_client_that_landlock_confines_is_left_to_itself(
    guarded: ServedProject, handled: int, client: tuple[str, ...]
) -> None:
    wrapper = landlocked(handled)
    guarded.start()
    assert guarded.warm("PreAbilityCall", stdin=DENIED, client=client).code == 2
    called = guarded.calls_of_guard()
    answer = guarded.run((*wrapper, *client), "PreAbilityCall", stdin=DENIED)
    (server,) = guarded.servers()
    assert (server.calls, server.left_to_others) == (1, 1)
    assert server.last_reason == "the caller does not prove that nothing confines it (landlock)"
    if handled == WRITE_FILE:  # the hook that the caller runs itself cannot write, either
        assert guarded.calls_of_guard() == called
    assert answer.code == 2


@pytest.mark.slow
def test_server_and_client_in_the_same_container_without_new_privileges_are_told_from_a_confined_one(
    guarded: ServedProject,
) -> None:
    """Both have no new privileges, as in many containers; only landlock tells them apart."""
    container = ("setpriv", "--no-new-privs")
    wrapper = (*container, *landlocked(WRITE_FILE, "yes"))
    words = [*container, INSTALLATION + "/samuel", "serve", "--socket", guarded.socket()]
    with subprocess.Popen(
        [*words, "--installation", INSTALLATION], cwd=guarded.root, env=guarded.environment
    ) as server:
        eventually(Path(guarded.socket()).exists, "no server")
        assert guarded.run((*container, *NATIVE), "PreAbilityCall", stdin=DENIED).code == 2
        assert guarded.run((*wrapper, *NATIVE), "PreAbilityCall", stdin=DENIED).code == 2
        status = guarded.run((*container, f"{INSTALLATION}/samuel", "serve", "status", "--json"))
        server.terminate()
    assert b'"calls": 1,' in status.out
    assert b'"left_to_others": 1,' in status.out


def test_caller_that_knows_the_protocol_and_not_the_proof_is_left(guarded: ServedProject) -> None:
    guarded.start()
    for proof in (b"", b"/memfd:x (deleted)", guarded.proof() + b"x"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(guarded.socket())
            fields = (wire.EMIT, b"0.1.0", INSTALLATION.encode(), str(guarded.root).encode(), proof)
            connection.sendall(wire.header(fields, [b"PreAbilityCall"], []))
            assert b"landlock" in read_frame(connection)
