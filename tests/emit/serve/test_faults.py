"""A server that dies, stops or lies at any point of a call: the right answer or a denial, and no handler twice."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.clients.client_reading import CAPTURES
from tests.conftest import py_guard
from tests.length import FULL, at_length

from samuel.emit.call import STDERR, STDOUT, EmitAnswer
from samuel.emit.serve import wire
from samuel.emit.serve.proof import proof_about

from .served_project import (
    ALLOWED,
    DENIED,
    GUARD,
    INSTALLATION,
    NATIVE,
    PATIENCE,
    THIN,
    Answer,
    ServedProject,
    context,
    eventually,
    fake_server,
    is_alive,
    read_frame,
    read_header,
    wait_for_end,
    yaml_hook,
)

CLIENTS = {"native": NATIVE, "python": THIN}
SOME_CLIENTS = at_length(["native"], [*CLIENTS])
OPEN_GUARD = GUARD.replace("return {", "{")  # allows everything, and counts
SLOW_GUARD = py_guard(
    """\
with open("called", "a") as file:
    file.write("x")
while not pathlib.Path("go-on").exists():
    time.sleep(0.05)
""",
    "pathlib, time, samuel",
)
BEFORE = ("header", "accepted", "stdin")  # no handler has been called
POINTS = (*BEFORE, "committed")


class Proxy:
    """Passes on what client and server say, until a point at which something happens to the server."""

    def __init__(
        self, path: str, proof: bytes, point: str, fault: Callable[[], None], begun: Callable[[], object]
    ) -> None:
        self._path, self._proof, self._point, self._fault, self._begun = path, proof, point, fault, begun

    def __call__(self, client: socket.socket) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.connect(self._path)
            header = wire.read_data(client.recv, wire.LARGEST_HEADER)
            self._reach("header")
            *fields, _, rest = header.split(b"\0", 6)  # the client's proof is about this process
            server.sendall(wire.data_frame(b"\0".join((*fields, self._proof, rest))))
            stdin = wire.read_data(client.recv, wire.LARGEST_FRAME)  # which clients send at once
            self._pass_on(server, client)
            self._reach("accepted")
            self._reach("stdin")
            server.sendall(wire.data_frame(stdin))
            self._pass_on(server, client)
            eventually(self._begun, "no handler was called")
            self._reach("committed")
            self._pass_on(server, client)

    def _pass_on(self, server: socket.socket, client: socket.socket) -> None:
        """The server's next message; or that the client has gone, which a server would see at once."""
        if client in select.select([server, client], [], [])[0]:
            server.shutdown(socket.SHUT_RDWR)
            raise wire.WireError("the client is gone")
        client.sendall(read_frame(server))

    def _reach(self, point: str) -> None:
        if point == self._point:
            self._fault()


def _thread_states(pid: int) -> list[str]:
    stats = Path(f"/proc/{pid}/task").glob("*/stat")
    return [stat.read_text().rpartition(") ")[2][0] for stat in stats]


def call_with_fault(
    served: ServedProject, point: str, number: signal.Signals, client: str, stdin: bytes = ALLOWED
) -> Answer:
    """One call whose server gets a signal at a point of it."""
    behind = str(served.runtime / "behind.sock")
    pid = served.start(behind)

    def fault() -> None:
        os.kill(pid, number)
        if number == signal.SIGKILL:
            wait_for_end(pid)
        if number == signal.SIGSTOP:  # its threads run for a moment longer
            eventually(lambda: all(state == "T" for state in _thread_states(pid)), "the server was not stopped")

    proxy = Proxy(behind, proof_about(pid), point, fault, served.calls_of_guard)

    def converse(connection: socket.socket) -> None:
        # A stopped server stays silent; a killed one closes its connections.
        connections.append(connection)
        try:
            proxy(connection)
        except (OSError, wire.WireError):
            if number == signal.SIGKILL:
                connection.close()

    connections: list[socket.socket] = []
    (served.runtime / "samuel").mkdir(mode=0o700, exist_ok=True)
    try:
        with fake_server(served.socket(), converse):
            answer = served.warm("PreAbilityCall", stdin=stdin, client=CLIENTS[client])
            if number == signal.SIGSTOP:
                os.kill(pid, signal.SIGCONT)
    finally:
        for connection in connections:
            connection.close()
        (served.root / "go-on").touch()
        if is_alive(pid):
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)
            wait_for_end(pid)
    return answer


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("point", BEFORE)
@pytest.mark.sampled(every=3)
def test_killed_server_before_handlers_is_done_without(served: ServedProject, point: str, client: str) -> None:
    if client == "python" and point != "stdin" and not FULL:
        pytest.skip("only in `make full`")
    served.files.python_hook("guard", GUARD)
    assert call_with_fault(served, point, signal.SIGKILL, client, DENIED) == (
        2,
        b'{"decision":"deny","reason":"not on a Friday"}\n',
        b"not on a Friday\n",
    )
    assert served.calls_of_guard() == 1


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("point", BEFORE)
@pytest.mark.sampled(every=3)
def test_stopped_server_before_handlers_is_done_without(served: ServedProject, point: str, client: str) -> None:
    if (client, point) not in (("native", "stdin"), ("python", "header")) and not FULL:
        pytest.skip("only in `make full`")
    served.files.python_hook("guard", OPEN_GUARD)
    assert call_with_fault(served, point, signal.SIGSTOP, client) == (0, b"{}\n", b"")
    assert served.calls_of_guard() == 1  # the server, awake again, notices that no client waits


@pytest.mark.parametrize("client", CLIENTS)
def test_server_killed_while_a_guard_runs_denies(served: ServedProject, client: str) -> None:
    served.files.python_hook("guard", SLOW_GUARD)
    answer = call_with_fault(served, "committed", signal.SIGKILL, client)
    assert answer == (2, b"", b"error: samuel ended before the hooks did\n")
    assert served.calls_of_guard() == 1


@pytest.mark.skipif(not FULL, reason="only in `make full`: it waits for the longest that handlers may take")
@pytest.mark.parametrize("client", CLIENTS)
def test_server_stopped_while_a_guard_runs_denies(served: ServedProject, client: str) -> None:
    served.files.config('[hooks.PreAbilityCall]\ntimeout = "1s"\n')
    served.files.python_hook("guard", SLOW_GUARD)
    answer = call_with_fault(served, "committed", signal.SIGSTOP, client)
    assert answer == (2, b"", b"error: samuel ended before the hooks did\n")
    assert served.calls_of_guard() == 1


def test_observer_of_a_killed_server_does_not_stop_its_agent(served: ServedProject) -> None:
    yaml_hook(served.root, "watch", "PostAbilityCall", "echo x > called\nsleep 1000")
    served.files.trust()
    pid = served.start()
    with subprocess.Popen(
        [*NATIVE, "--as", "claude", "PostToolUse"],
        cwd=served.root,
        env=served.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        process.stdin.write((CAPTURES / "claude/PostToolUse.json").read_bytes())
        process.stdin.close()
        eventually((served.root / "called").exists, "the hook was not called")
        os.kill(pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == 0
        assert process.stdout
        assert b"it ended before the hooks did" in process.stdout.read()
    served.start()  # ends what the killed one left


def test_what_a_killed_server_left_running_is_ended_by_the_next(served: ServedProject) -> None:
    yaml_hook(served.root, "slow", "PreAbilityCall", "(setsid sleep 1000 &) ; echo x > called; sleep 1000")
    served.files.trust()
    pid = served.start()
    with subprocess.Popen(
        [*NATIVE, "PreAbilityCall"], cwd=served.root, env=served.environment, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin
        process.stdin.write(ALLOWED)
        process.stdin.close()
        eventually((served.root / "called").exists, "the hook was not called")
        os.kill(pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == 2
    assert len(served.handlers()) >= 2
    served.start()
    eventually(lambda: not served.handlers(), "processes of the killed server are left")


def test_stopped_server_allows_nothing_that_a_hook_it_killed_could_have_denied(served: ServedProject) -> None:
    """The crash of a hook that is no guard is a warning, but this one did not crash: the server killed it."""
    yaml_hook(served.root, "a", "PreAbilityCall", "(setsid sleep 1000 &) ; echo x >> called; sleep 1000")
    yaml_hook(served.root, "b", "PreAbilityCall", "echo x >> next")
    served.files.trust()
    pid = served.start()
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(served.warm, "PreAbilityCall", stdin=ALLOWED) for _ in range(4)]
        eventually(lambda: served.calls_of_guard() == 8, "not all of them are under way")  # `x` and a line's end
        os.kill(pid, signal.SIGTERM)
        answers = {call.result(PATIENCE) for call in calls}
    assert answers == {Answer(2, b"", b"error: samuel ended before the hooks did\n")}
    wait_for_end(pid)
    assert not (served.root / "next").exists()
    assert served.handlers() == []


# Without a server that can be used


@pytest.mark.slow
def test_deleted_socket_is_done_without_and_its_server_ends(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    pid = served.start()
    Path(served.socket()).unlink()
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    assert served.calls_of_guard() == 1
    wait_for_end(pid)


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_directory_that_others_can_enter_is_not_used(served: ServedProject, client: str) -> None:
    """A planted server says that everything is allowed: it is not asked."""
    served.files.python_hook("guard", GUARD)
    with fake_server(served.socket(), says_allow):
        assert served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client]).out == b"{}\n"  # it works
        (served.runtime / "samuel").chmod(0o755)
        answer = served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client], TMPDIR=str(served.runtime))
    (served.runtime / "samuel").chmod(0o700)
    assert answer.code == 2


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can give a directory to another user")
@pytest.mark.parametrize("client", SOME_CLIENTS)
def test_directory_of_another_user_is_not_used(served: ServedProject, client: str) -> None:
    served.files.python_hook("guard", GUARD)
    path = served.socket()
    with fake_server(path, says_allow):
        os.chown(served.runtime / "samuel", 65534, 65534)
        answer = served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client])
    os.chown(served.runtime / "samuel", 0, 0)
    assert answer.code == 2


@pytest.mark.slow
@pytest.mark.parametrize("client", SOME_CLIENTS)
def test_link_in_place_of_the_directory_is_not_used(served: ServedProject, client: str) -> None:
    served.files.python_hook("guard", GUARD)
    path = served.socket()
    with fake_server(path, says_allow):
        (served.runtime / "samuel").rename(served.runtime / "elsewhere")
        (served.runtime / "samuel").symlink_to(served.runtime / "elsewhere")
        answer = served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client])
        (served.runtime / "samuel").unlink()
        (served.runtime / "elsewhere").rename(served.runtime / "samuel")
    assert answer.code == 2


@pytest.mark.slow
@pytest.mark.parametrize("client", SOME_CLIENTS)
def test_path_that_is_too_long_for_the_kernel_is_done_without(served: ServedProject, client: str) -> None:
    served.files.python_hook("guard", GUARD)
    deep = served.runtime / ("d" * 90)
    (deep / "samuel").mkdir(parents=True, mode=0o700)
    more = {"XDG_RUNTIME_DIR": str(deep), "SAMUEL_EVENT_ID": "no-server"}  # a nested call starts none in /tmp
    assert served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client], **more).code == 2
    assert list((deep / "samuel").iterdir()) == []


def says_allow(connection: socket.socket) -> None:
    read_header(connection)
    connection.sendall(wire.frame(wire.ACCEPTED))
    wire.read_data(connection.recv, wire.LARGEST_FRAME)
    answer = EmitAnswer(0, ((STDOUT, "{}\n"),))
    connection.sendall(wire.frame(wire.ANSWER, wire.encode_answer(answer, "utf-8")))


# A server that does not keep to the protocol


def after_stdin(*messages: bytes, close: bool = True) -> Callable[[socket.socket], None]:
    """A server that takes the call and then sends this."""

    def converse(connection: socket.socket) -> None:
        read_header(connection)
        connection.sendall(wire.frame(wire.ACCEPTED))
        wire.read_data(connection.recv, wire.LARGEST_FRAME)
        for message in messages:
            connection.sendall(message)
        if close:
            connection.close()

    return converse


UNANSWERED = EmitAnswer(2, ((STDERR, "unanswered\n"),), 2)
COMMITTED = wire.committed(0.3, UNANSWERED, "utf-8")
GOOD = wire.encode_answer(EmitAnswer(0, ((STDOUT, "{}\n"),)), "utf-8")
AFTER_COMMITTED = {
    "nothing": b"",
    "half of an answer": wire.frame(wire.ANSWER, GOOD)[:-1],
    "an empty answer": wire.frame(wire.ANSWER),
    "an exit code alone": wire.frame(wire.ANSWER, b"\0"),
    "a part that is longer than the answer": wire.frame(wire.ANSWER, b"\0\0\1\0\0\1\0x"),
    "a stream that does not exist": wire.frame(wire.ANSWER, b"\0\0\7\0\0\0\1x"),
    "another kind of message": wire.frame(wire.COLD, b"go away"),
    "a second COMMITTED": COMMITTED,
    "an unknown kind of message": wire.frame(b"Z", GOOD),
    "a message that is too long": b"R\xff\xff\xff\xff",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_after_committed_only_a_whole_answer_counts(served: ServedProject, client: str) -> None:
    """Whatever else comes, the answer of COMMITTED is given: the guard may have run, and must not run again."""
    served.files.python_hook("guard", GUARD)
    messages = AFTER_COMMITTED if FULL or client == "native" else dict(list(AFTER_COMMITTED.items())[1:8:3])
    for name, message in messages.items():
        with fake_server(served.socket(), after_stdin(COMMITTED, message)):
            answer = served.warm("PreAbilityCall", stdin=ALLOWED, client=CLIENTS[client])
        assert answer == (2, b"", b"unanswered\n"), name
    assert served.calls_of_guard() == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_silence_after_committed_gives_its_answer_in_time(served: ServedProject, client: str) -> None:
    with fake_server(served.socket(), after_stdin(COMMITTED, close=False)):
        answer = served.warm("PreAbilityCall", stdin=ALLOWED, client=CLIENTS[client])
    assert answer == (2, b"", b"unanswered\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(AFTER_COMMITTED)[:: at_length(4, 1)])
def test_before_committed_a_wrong_message_is_no_answer(served: ServedProject, name: str) -> None:
    served.files.python_hook("guard", GUARD)
    message = AFTER_COMMITTED[name]
    if name == "a second COMMITTED":
        message = wire.frame(wire.COMMITTED, b"\0\0")
    for client in at_length(["native"], list(CLIENTS)):
        with fake_server(served.socket(), after_stdin(message)):
            assert served.warm("PreAbilityCall", stdin=DENIED, client=CLIENTS[client]).err == b"not on a Friday\n"


def test_server_of_another_version_is_done_without(served: ServedProject) -> None:
    """The version is in the socket's name, and in the header if a person renames the socket."""
    served.files.python_hook("guard", GUARD)
    served.start()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(served.socket())
        fields = (wire.EMIT, b"0.0.1", INSTALLATION.encode(), str(served.root).encode(), b"")
        connection.sendall(wire.header(fields, [b"PreAbilityCall"], []))
        answer = read_frame(connection)
    assert answer[:1] == wire.COLD
    assert b"version 0.0.1" in answer


@pytest.mark.parametrize("closed", at_length(["<&-"], ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]))
def test_closed_standard_streams_never_become_the_socket(served: ServedProject, closed: str) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    for client in at_length([NATIVE], [NATIVE, THIN]):
        words = ["sh", "-c", f'"$@" PreAbilityCall {closed}', "sh", *client]
        assert served.run(words, stdin=DENIED).code == 2


@pytest.mark.parametrize("client", SOME_CLIENTS)
def test_output_that_cannot_be_written_is_no_success(served: ServedProject, client: str) -> None:
    served.files.python_hook("guard", OPEN_GUARD)
    served.start()
    words = ["sh", "-c", '"$@" PreAbilityCall > /dev/full', "sh", *CLIENTS[client]]
    answer = served.run(words, stdin=ALLOWED)
    assert answer.code == 2
    assert b"error: " in answer.err  # without a reason an agent may go on


def test_stdin_that_cannot_be_read_denies(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    answer = served.run(["sh", "-c", '"$@" PreAbilityCall < /', "sh", *NATIVE])
    assert answer == (2, b"", b"error: `samuel-emit` cannot read its input, so this is denied\n")


def test_stdin_that_does_not_block_is_waited_for(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    theirs, ours = os.pipe()
    os.set_blocking(theirs, False)
    with subprocess.Popen(
        [*NATIVE, "PreAbilityCall"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=served.root,
        env=served.environment,
    ) as client:
        os.close(theirs)
        time.sleep(0.1)
        os.write(ours, DENIED)
        os.close(ours)
        assert client.wait(10) == 2
    assert served.answered() == 1


# Many calls


@pytest.mark.slow
def test_many_sequential_calls_are_all_answered(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    count = at_length(50, 10_000)
    for number in range(count):
        assert served.warm("PreAbilityCall", stdin=(ALLOWED, DENIED)[number % 2]).code == (0, 2)[number % 2]
    assert served.answered() == count
    assert served.calls_of_guard() == count


def test_parallel_calls_are_all_answered(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    with ThreadPoolExecutor(64) as pool:
        answers = list(
            pool.map(lambda n: served.warm("PreAbilityCall", stdin=(ALLOWED, DENIED)[n % 2]), range(64))
        )
    assert [answer.code for answer in answers] == [0, 2] * 32
    assert served.calls_of_guard() == 64


@pytest.mark.slow
def test_hanging_handler_holds_up_nobody_else(served: ServedProject) -> None:
    slow = 'echo x >> called\nwhile [ ! -e go-on ]; do sleep 0.05; done\necho \'{"messages_to_user": ["late"]}\''
    yaml_hook(served.root, "slow", "PreAbilityCall", slow, "match: {ability_id: [slow]}\ntimeout: 300s\n")
    served.files.python_hook("guard", GUARD.replace("called", "judged"))
    served.start()
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(served.warm, "PreAbilityCall", stdin=context("slow")) for _ in range(8)]
        eventually(lambda: served.calls_of_guard() == 16, "not all of them hang")  # `x` and a line's end
        for _ in range(5):
            assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
        status = served.status()
        assert status
        assert status.under_way == 8
        (served.root / "go-on").touch()
        assert {answer.result(PATIENCE) for answer in waiting} == {
            Answer(0, b'{"messages_to_user":["late"]}\n', b"late\n")
        }


@pytest.mark.slow
def test_calls_for_which_the_server_lacks_open_files_are_left_to_processes_of_their_own(
    served: ServedProject,
) -> None:
    """The limit is that of the process that started it. A hook that cannot be started would be a warning."""
    hang = "echo x >> called\nwhile [ ! -e go-on ]; do sleep 0.05; done\necho '{}'"
    yaml_hook(served.root, "slow", "PostAbilityCall", hang, "timeout: 300s\n")
    served.files.trust()
    words = ["serve", "--socket", served.socket(), "--installation", INSTALLATION]
    count = 20
    with subprocess.Popen(
        ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", f"{INSTALLATION}/samuel", *words],
        cwd=served.root, env=served.environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as server, ThreadPoolExecutor(count) as pool:  # fmt: skip
        eventually(served.status, "no server")
        event = context("a", status="success", duration_ms=1)
        calls = [pool.submit(served.warm, "PostAbilityCall", stdin=event) for _ in range(count)]
        try:
            eventually(
                lambda: served.calls_of_guard() == 2 * count, "not all of them hang"
            )  # `x` and a line's end
            status = served.status()
        finally:
            (served.root / "go-on").touch()
            answers = {call.result(PATIENCE) for call in calls}
            server.terminate()
    assert answers == {Answer(0, b"{}\n", b"")}
    assert status
    assert (status.under_way, status.left_to_others) == (4, count - 4)


def test_handlers_processes_end_with_its_call(served: ServedProject) -> None:
    """It forks as long as it may, in sessions of their own, and does not end by itself."""
    body = "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c 'sleep 1000 & sleep 1000' &); done\nsleep 1000"
    yaml_hook(served.root, "bomb", "PreAbilityCall", body, "role: guard\ntimeout: 1s\n")
    served.files.trust()
    served.start()
    assert served.warm("PreAbilityCall", stdin=ALLOWED).code == 2
    assert served.handlers() == []
    assert served.answered() == 1


def test_client_that_sends_nothing_or_half_of_it_is_no_obstacle(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    served.start()
    idlers = []
    for data in (b"", b"\0\0", b"\0\0\1\0abc", b"\xff\xff\xff\xff", wire.data_frame(b"\0" * 20)) * 8:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(served.socket())
        connection.sendall(data)
        idlers.append(connection)
    assert served.warm("PreAbilityCall", stdin=DENIED).code == 2
    assert served.answered() == 1
    for connection in idlers:
        connection.close()


def test_clients_that_are_killed_leave_nothing(served: ServedProject) -> None:
    yaml_hook(served.root, "slow", "PreAbilityCall", "echo x >> called; sleep 2", "timeout: 3s\n")
    served.files.trust()
    served.start()
    for _ in range(4):
        process = subprocess.Popen(
            [*NATIVE, "PreAbilityCall"], cwd=served.root, env=served.environment, stdin=subprocess.PIPE
        )
        assert process.stdin
        process.stdin.write(ALLOWED)
        process.stdin.close()
        process.kill()
        process.wait()
    eventually(lambda: not served.handlers(), "processes are left")


@pytest.mark.slow
def test_full_disk_denies_or_answers_as_without_a_server(tmp_path: Path, served: ServedProject) -> None:
    """The journal cannot be written: a process of its own says the same."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"NOT TESTED: no file system can be mounted: {mounted.stderr.decode()}")
    try:
        served.files.python_hook("guard", GUARD.replace('"called"', '"/dev/null"'))
        (served.root / ".samuel/run").mkdir()
        subprocess.run(["mount", "--bind", disk, served.root / ".samuel/run"], check=True)
        served.start()
        full = False
        with (disk / "filler").open("wb", buffering=0) as filler:
            while not full:
                try:
                    filler.write(b"x" * 4096)
                except OSError:
                    full = True
        for stdin in (DENIED, ALLOWED):
            assert served.warm("PreAbilityCall", stdin=stdin) == served.cold("PreAbilityCall", stdin=stdin)
        assert served.answered() == 2
        served.stop()
    finally:
        subprocess.run(["umount", served.root / ".samuel/run"], capture_output=True)
        subprocess.run(["umount", disk], capture_output=True)
