"""The plugin of opencode and the server of a project: a real one, and others that break off during a call."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import py_guard

from samuel.clients.entries.hook_command import installed_command
from samuel.clients.opencode.plugin import plugin_text
from samuel.emit.call import EmitAnswer
from samuel.emit.serve import wire
from samuel.files.json import MAX_BYTES
from samuel.version import __version__

NODE = shutil.which("node")
PROGRAMS = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

GUARD = py_guard("""\
if "victim" in event.tool_input.get("command", ""):
    return {"decision": "deny", "reason": "the victim stays where it is"}
""")
CALLER = """
import { Samuel } from "./plugin.mjs"
const hooks = await Samuel({ directory: process.cwd() })
const said = []
for (const command of process.argv.slice(2)) {
  const output = { args: { command } }
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output).then(
    () => said.push(output.args.command),
    (error) => said.push(error.message),
  )
}
console.log(JSON.stringify(said))
"""


class PluginProject:
    """A project with a guard, and the plugin in it."""

    def __init__(self, directory: Path, runtime: Path) -> None:
        self.root, home = directory / "project", directory / "home"
        for place in (self.root, home, runtime / "samuel"):
            place.mkdir(mode=0o700)
        self.env = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PATH": f"{PROGRAMS}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
        }
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, env=self.env)
        self.write("plugin.mjs", plugin_text(installed_command()))
        self.write("caller.mjs", CALLER)
        self.write(".samuel/hooks/guard.py", GUARD)
        self.samuel("trust", "--yes")

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def samuel(self, *arguments: str) -> str:
        return self._run(str(PROGRAMS / "samuel"), *arguments)

    def call(self, *commands: str) -> list[str]:
        """What opencode gets for these commands, one after the other: the command to run, or why it is denied."""
        return list(json.loads(self._run(str(NODE), "caller.mjs", *commands)))

    def socket_path(self) -> str:
        return self._run(str(PROGRAMS / "samuel-emit"), "--socket").splitlines()[0]

    def _run(self, *argv: str) -> str:
        done = subprocess.run(argv, cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode == 0, done
        return done.stdout.decode()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[PluginProject]:
    with tempfile.TemporaryDirectory(prefix="samuel-") as runtime:  # the path of a socket is short
        project = PluginProject(tmp_path, Path(runtime))
        yield project
        project.samuel("serve", "stop")


@pytest.mark.slow
def test_second_call_is_answered_by_the_server_and_in_the_same_words(project: PluginProject) -> None:
    cold = project.call("rm victim")
    while not json.loads(project.samuel("serve", "status", "--json"))["data"]:
        pass
    assert project.call("rm victim", "ls") == [*cold, "ls"] == ["the victim stays where it is", "ls"]
    (server,) = json.loads(project.samuel("serve", "status", "--json"))["data"]
    assert (server["calls"], server["left_to_others"]) == (2, 0), server


@pytest.mark.slow
def test_socket_is_not_told_where_the_server_is_switched_off(project: PluginProject) -> None:
    project.env["SAMUEL_SERVE"] = "off"
    with pytest.raises(IndexError):
        project.socket_path()


# What a server does with one connection, and what opencode gets for `rm victim` then.
def refuse(connection: socket.socket, receive: wire.Receive) -> None:
    connection.sendall(wire.frame(wire.COLD, b"not today"))


def take_and_die(connection: socket.socket, receive: wire.Receive) -> None:
    connection.sendall(wire.frame(wire.ACCEPTED))
    wire.read_data(receive, MAX_BYTES)


def commit_and_die(connection: socket.socket, receive: wire.Receive) -> None:
    take_and_die(connection, receive)
    connection.sendall(wire.committed(60, EmitAnswer(2, ((2, "it ended before the hooks did\n"),)), "utf-8"))


def talk_nonsense(connection: socket.socket, receive: wire.Receive) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")


def answer(connection: socket.socket, receive: wire.Receive) -> None:
    take_and_die(connection, receive)
    whole = wire.frame(wire.ANSWER, wire.encode_answer(EmitAnswer(2, ((2, "by the server\n"),)), "utf-8"))
    connection.sendall(whole[:7])
    connection.sendall(whole[7:])


GUARDED = "the victim stays where it is"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conversation", "reason"),
    [
        (refuse, GUARDED),
        (take_and_die, GUARDED),
        (talk_nonsense, GUARDED),
        (commit_and_die, "it ended before the hooks did"),
        (answer, "by the server"),
    ],
)
def test_server_that_breaks_off_leaves_the_call_denied(
    project: PluginProject, conversation: Callable[[socket.socket, wire.Receive], None], reason: str
) -> None:
    headers: list[wire.Header] = []
    path = project.socket_path()

    def serve() -> None:
        looked, _ = listener.accept()  # `samuel-emit --socket`, for its proof
        looked.close()
        connection, _ = listener.accept()
        with connection:

            def receive(size: int) -> bytes:
                return connection.recv(size, socket.MSG_WAITALL)

            headers.append(wire.Header(wire.read_data(receive, wire.LARGEST_HEADER)))
            conversation(connection, receive)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        assert project.call("rm victim") == [reason]
        thread.join()
    (header,) = headers
    variables = dict(variable.partition(b"=")[::2] for variable in header.variables.split(b"\0"))
    assert {name.encode(): value.encode() for name, value in project.env.items()}.items() <= variables.items()
    assert header.arguments == [b"--as", b"opencode", b"tool.execute.before"]
    assert (header.version, header.directory) == (__version__, os.fsencode(project.root.resolve()))
    os.unlink(path)


@pytest.mark.slow
def test_closed_socket_is_as_good_as_none(project: PluginProject) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(project.socket_path())
    assert project.call("rm victim") == [GUARDED]
