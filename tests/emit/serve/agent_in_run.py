"""The hooks of an agent of a run, called by a test in the agent's place: warm by the run's server, or cold."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from samuel.agents.find_agent import find
from samuel.app import App
from samuel.attempt.turn.bridged_agent import BridgedAgent
from samuel.clients.entries.hook_command import EmitCommand, hook_command
from samuel.emit.serve.control import ServerStatus
from samuel.events import AgentInvoke
from samuel.process.emit_client import SERVER_OPTION
from samuel.testing import SamuelProject

from .served_project import PATIENCE, THIN, Answer, eventually, status_of

PRE, POST = "PreToolUse", "PostToolUse"
GUARD = """\
import samuel
from pathlib import Path


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    command = event.tool_input.get("command", "")
    with open("called", "a") as file:
        file.write("x")
    if "hang" in command:
        import time
        while not Path("go-on").exists():
            time.sleep(0.02)
    if "victim" in command:
        return {"decision": "deny", "reason": "the victim stays"}


@samuel.hook("PreAbilityCall", role="rewrite")
def rewriter(event):
    if "rewrite" in event.tool_input.get("command", ""):
        return {"tool_input": {**event.tool_input, "command": "echo rewritten"}}


@samuel.hook("PostAbilityCall")
def observer(event):
    return {"messages_to_user": ["that was " + event.tool_input.get("command", "")]}
"""
SETTINGS = """\
[methodology.ralph]
agent = "mine"
[agents.mine]
command = ["true"]
prompt = "stdin"
hooks = "claude"
"""


def payload(command: str, event: str = PRE, **fields: object) -> bytes:
    """What the agent's client puts on the stdin of a hook."""
    call = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": command}}
    more = {"tool_response": {"stdout": "", "stderr": ""}} if event == POST else {}
    names = {"session_id": "own", "cwd": "/", "hook_event_name": event, "transcript_path": "t"}
    return json.dumps({**names, **call, **more, **fields}).encode()


class AgentInRun:
    """An agent process of a run, without the agent."""

    def __init__(self, app: App, commands: Mapping[str, str], launcher: Path) -> None:
        self.root = app.paths.root
        self.commands = commands
        self.launcher = launcher
        self._app = app
        words = shlex.split(shlex.split(commands[PRE])[2])  # of `sh -c SCRIPT`
        at = words.index(SERVER_OPTION) if SERVER_OPTION in words else 0
        self._words = tuple(words[at - 1 : at + 5]) if at else (str(launcher),)
        assert commands == self._commands(self._words)

    def _commands(self, words: tuple[str, ...]) -> dict[str, str]:
        return {event: hook_command(EmitCommand(words, of_run=True), "claude", event) for event in self.commands}

    # Calls, as the agent's client makes them

    def warm(self, data: bytes, event: str = PRE, **variables: str) -> Answer:
        """With the server of the run, if it is there."""
        return finished(self.started(data, event, **variables))

    def cold(self, data: bytes, event: str = PRE, **variables: str) -> Answer:
        """By a process of its own: the command does not name the server."""
        with self.started_as(str(self.launcher)):
            return finished(self.started(data, event, **variables))

    def started(
        self, data: bytes, event: str = PRE, directory: str = "/", **variables: str
    ) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            self.commands[event],
            shell=True,
            cwd=directory,
            env={"PATH": "/usr/bin:/bin", **variables},  # clients leave out what they like
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        assert process.stdin
        with suppress(BrokenPipeError):  # of too much only the beginning is read
            process.stdin.write(data)
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdin = None
        return process

    @contextmanager
    def started_as(self, *words: str) -> Iterator[None]:
        """Calls of a hook whose command starts Samuel by these words."""
        before = self._words
        try:
            self._words, self.commands = words, self._commands(words)
            yield
        finally:
            self._words, self.commands = before, self._commands(before)

    def with_server(self, **changes: object) -> AbstractContextManager[None]:
        """Calls of a hook whose command names another `path`, `pid`, `born` or `fallback`."""
        address = dict(zip(("path", "pid", "born", "fallback"), self._words[-4:], strict=True))
        return self.started_as(*self._words[:-4], *map(str, {**address, **changes}.values()))

    def thin(self) -> AbstractContextManager[None]:
        """Calls with the client in Python."""
        return self.started_as(*THIN, *self._words[1:])

    def calls_of_guard(self) -> int:
        file = self.root / "called"
        return len(file.read_text()) if file.exists() else 0

    # The server

    @property
    def names_server(self) -> bool:
        return SERVER_OPTION in self._words

    @property
    def socket(self) -> str:
        return self._words[-4]

    @property
    def pid(self) -> int:
        return int(self._words[-3])

    @property
    def born(self) -> int:
        return int(self._words[-2])

    @property
    def status(self) -> ServerStatus:
        status = status_of(self.socket)
        assert status
        return status

    def wait_for_server(self) -> None:
        eventually(lambda: status_of(self.socket), "the run's server does not listen")


def finished(process: subprocess.Popen[bytes]) -> Answer:
    out, err = process.communicate(timeout=PATIENCE)
    return Answer(process.returncode, out, err)


@contextmanager
def agent_in_run(project: SamuelProject, **options: Any) -> Iterator[AgentInRun]:
    """An agent process of a run of this project; the files of the bridge and the server are there."""
    with project.open(**options) as app:
        place = app.workplace
        names = {
            "SAMUEL_RUN_ID": "run-1",
            "SAMUEL_SESSION_ID": "run-1-1",
            "SAMUEL_TASK_ID": "7",
            "SAMUEL_PROJECT_ROOT": str(place.root),
            "SAMUEL_METHODOLOGY": place.settings.name,
        }
        os.makedirs(place.state, exist_ok=True)
        event = AgentInvoke(
            agent="mine", prompt="p", iteration=1, run_id="run-1", env=names, sandbox=place.sandbox
        )
        with BridgedAgent(place, find("mine", place.agents), event) as bridge:
            settings = json.loads(bridge.arguments[bridge.arguments.index("--settings") + 1])
            commands = {name: entries[0]["hooks"][0]["command"] for name, entries in settings["hooks"].items()}
            (launcher,) = (file for file in bridge.files if file.name == "samuel-emit")
            agent = AgentInRun(app, commands, launcher)
            if agent.names_server:
                agent.wait_for_server()
            yield agent
