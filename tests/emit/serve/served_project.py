"""A project with a home of its own whose calls are answered cold, by a process each, or warm, by a real server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from tests.conftest import TEST_MARK, py_guard

from samuel.base.errors import SamuelError
from samuel.base.project_root import project_root
from samuel.emit.serve import wire
from samuel.emit.serve.control import ServerStatus, ask
from samuel.emit.serve.proof import proof_about
from samuel.emit.serve.socket_name import ENDING, socket_path
from samuel.process.emit_client import NATIVE_CLIENT
from samuel.testing import SamuelProject

INSTALLATION = str(Path(sys.executable).parent)
NATIVE = (f"{INSTALLATION}/{NATIVE_CLIENT}",)
THIN = (sys.executable, "-c", "import sys; from samuel.__main__ import emit; sys.exit(emit())")
PATIENCE = 60.0  # seconds until something has certainly gone wrong, however busy the machine is

GUARD = py_guard("""\
with open("called", "a") as file:
    file.write("x")
if event.ability_id == "deploy":
    return {"decision": "deny", "reason": "not on a Friday"}
""")
DENIED, ALLOWED = b'{"ability_id": "deploy"}', b'{"ability_id": "read"}'


class Answer(NamedTuple):
    """What a caller of `samuel emit` sees."""

    code: int
    out: bytes
    err: bytes


def eventually(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.02)


class ServedProject:
    """The project, its user, and the servers that were started for it."""

    def __init__(self, directory: Path, fast_samuel: Path, share_cache: Callable[[Path], None]) -> None:
        self.files = SamuelProject(directory)
        self.root, self.home = self.files.root, self.files.user.home
        share_cache(self.home / ".cache")
        self.runtime = Path(tempfile.mkdtemp(prefix="samuel-test-"))  # short: a socket's path has to fit
        self.mark = uuid.uuid4().hex
        self.environment = {
            "PATH": f"{INSTALLATION}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime),
            TEST_MARK: self.mark,
        }
        self._fast_samuel = str(fast_samuel / "samuel")

    # Calls

    def cold(self, *words: str, stdin: bytes = b"", cwd: Path | None = None, **more: str) -> Answer:
        """`samuel emit` in a process of its own."""
        command = (self._fast_samuel, "emit")
        return self.run(command, *words, stdin=stdin, cwd=cwd, SAMUEL_SERVE="off", **more)

    def warm(
        self, *words: str, stdin: bytes = b"", client: Sequence[str] = NATIVE, cwd: Path | None = None, **more: str
    ) -> Answer:
        """`samuel-emit`, which asks the server if there is one."""
        return self.run(client, *words, stdin=stdin, cwd=cwd, **more)

    def run(
        self, program: Sequence[str], *words: str, stdin: bytes = b"", cwd: Path | None = None, **more: str
    ) -> Answer:
        done = subprocess.run(
            [*program, *words],
            input=stdin,
            capture_output=True,
            cwd=cwd or self.root,
            env={**self.environment, **more},
            timeout=PATIENCE,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def samuel(self, *words: str, stdin: bytes = b"", **more: str) -> Answer:
        """Another command than `emit`."""
        # Servers belong to an installation: the program that asks about them must be of the same one.
        program = f"{INSTALLATION}/samuel" if words[0] == "serve" else self._fast_samuel
        return self.run((program,), *words, stdin=stdin, cwd=None, **more)

    def calls_of_guard(self) -> int:
        file = self.root / "called"
        return len(file.read_text()) if file.exists() else 0

    # Servers

    def socket(self, installation: str = INSTALLATION, root: Path | None = None, **more: str) -> str:
        variables = {os.fsencode(k): os.fsencode(v) for k, v in {**self.environment, **more}.items()}
        (self.runtime / "samuel").mkdir(mode=0o700, exist_ok=True)
        path = socket_path(str(root or self.root), installation, variables)
        assert path
        return path

    def start(self, path: str = "", root: Path | None = None, **more: str) -> int:
        """Start a server for this environment, or for another project at `root`; gives its process."""
        path = path or self.socket(root=root, **more)
        with (self.runtime / "server.log").open("ab") as log:
            # The program in front ends when the server does: it is not waited for.
            start_server(
                self._fast_samuel, path, root or self.root, {**self.environment, **more}, log
            ).returncode = 0
        eventually(lambda: self.status(path), f"no server: {(self.runtime / 'server.log').read_text()}")
        server = self.status(path)
        assert server
        return server.pid

    def proof(self) -> bytes:
        """What the server asks of its callers."""
        server = self.status()
        return proof_about(server.pid) if server else b""

    def status(self, path: str = "") -> ServerStatus | None:
        return status_of(path or self.socket())

    def answered(self) -> int:
        """How many calls all servers answered."""
        return sum(server.calls for server in self.servers())

    def servers(self) -> list[ServerStatus]:
        return [server for path in self.sockets() if (server := self.status(path))]

    def sockets(self) -> list[str]:
        return [str(path) for path in sorted((self.runtime / "samuel").glob(f"*{ENDING}"))]

    # The end

    def pids(self) -> list[int]:
        """The processes that carry the mark of this project. A forked server carries that of its fork server."""
        return pids_with(self.mark)

    def handlers(self) -> list[str]:
        """What runs for calls, apart from servers and their workers for Python."""
        lines = [commands(pid) for pid in self.pids()]
        return [line for line in lines if line and " serve --socket " not in line and ".worker" not in line]

    def stop(self) -> None:
        """Stop all servers, wherever they listen, and wait until they have ended."""
        for server in self.servers():
            os.kill(server.pid, signal.SIGTERM)
            wait_for_end(server.pid)
        for pid in self.pids():
            if " serve --socket " in commands(pid):
                os.kill(pid, signal.SIGTERM)
                wait_for_end(pid)

    def close(self) -> None:
        """Stop all servers. Nothing may be left running."""
        try:
            self.stop()
            deadline = time.monotonic() + PATIENCE
            while (left := self.pids()) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert left == [], [commands(pid) for pid in left]
        finally:
            for pid in self.pids():
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.runtime)


def start_server(
    program: str, path: str, directory: Path, environment: Mapping[str, str], log: IO[bytes] | int
) -> subprocess.Popen[bytes]:
    """Start `samuel serve` at a socket."""
    return subprocess.Popen(
        [program, "serve", "--socket", path, "--installation", INSTALLATION],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def status_of(path: str) -> ServerStatus | None:
    try:
        return ask(path, wire.STATUS)
    except SamuelError:
        return None


class WarmCalls:
    """Calls of `samuel-emit` in whatever project and environment a test has; a server is started for each."""

    def __init__(self, fast_samuel: Path) -> None:
        self._program = str(fast_samuel / "samuel")
        self._runtime = Path(tempfile.mkdtemp(prefix="samuel-test-"))
        self._mark = uuid.uuid4().hex
        (self._runtime / "samuel").mkdir(mode=0o700)

    def emit(self, words: Sequence[str], stdin: bytes) -> Answer:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self._runtime), TEST_MARK: self._mark}
        environment.pop("SAMUEL_SERVE", None)
        directory = Path.cwd()
        variables = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        path = socket_path(project_root(str(directory)), INSTALLATION, variables)
        if not status_of(path):
            process = start_server(self._program, path, directory, environment, subprocess.DEVNULL)
            # It ends at once where nothing may be served; then the client does without, as for anybody.
            eventually(lambda: status_of(path) or process.poll() is not None, "no server")
            process.returncode = process.returncode or 0
        done = subprocess.run(
            [*NATIVE, *words], input=stdin, capture_output=True, env=environment, timeout=PATIENCE
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def close(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:  # a call that found no server started one, which may not listen yet
            starting = [pid for pid in pids_with(self._mark) if " serve --socket " in commands(pid)]
            servers = [
                status.pid
                for path in (self._runtime / "samuel").glob("*.sock")
                if (status := status_of(str(path)))
            ]
            if not starting and not servers:
                break
            for pid in {*starting, *servers}:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                wait_for_end(pid)
        shutil.rmtree(self._runtime)


def wait_for_end(pid: int) -> None:
    eventually(lambda: not is_alive(pid), f"{pid} has not ended")


def pids_with(mark: str) -> list[int]:
    """The processes that have a mark in their environment."""
    pids = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path("/proc", name, "environ").read_bytes():
                pids.append(int(name))
        except OSError:  # gone meanwhile, or not ours
            continue
    return pids


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def commands(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


Conversation = Callable[[socket.socket], None]


@contextmanager
def fake_server(path: str, converse: Conversation) -> Iterator[None]:
    """A server at `path` that has one conversation after the other."""
    import threading

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    Path(path).unlink(missing_ok=True)
    listener.bind(path)
    listener.listen(128)
    connections: list[socket.socket] = []
    is_over = threading.Event()

    def serve() -> None:
        while not is_over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            if is_over.is_set():
                return
            try:
                converse(connection)
            except (OSError, wire.WireError):  # the client is gone: the test looks at what it did
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        listener.shutdown(socket.SHUT_RDWR)
        for connection in connections:
            with suppress(OSError):  # its client is gone
                connection.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)
        for connection in (listener, *connections):  # also one that was accepted in between
            connection.close()
        Path(path).unlink(missing_ok=True)


def read_header(connection: socket.socket) -> wire.Header:
    return wire.Header(wire.read_data(connection.recv, wire.LARGEST_HEADER))


def read_frame(connection: socket.socket) -> bytes:
    """The next message of a server, all of its bytes."""
    head = wire.read_exactly(connection.recv, 5)
    size = int.from_bytes(head[1:], "big")
    return head + (wire.read_exactly(connection.recv, size) if size else b"")


def context(ability: str, **fields: object) -> bytes:
    return json.dumps({"ability_id": ability, **fields}).encode()


def yaml_hook(root: Path, name: str, event: str, body: str, more: str = "") -> None:
    """A YAML hook with a shell script."""
    definition = root / ".system" / "hooks" / f"{name}.yaml"
    script = root / "scripts" / f"{name}.sh"
    for file in (definition, script):
        file.parent.mkdir(parents=True, exist_ok=True)
    handler = f"handler:\n  kind: script\n  command: ./scripts/{name}.sh\n"
    definition.write_text(f"id: {name}\nevent_type: {event}\n{more}{handler}")
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
