"""A tool call of a real agent, with a guard and without: from one request to the model to the next.

Both by itself, connected by `samuel bridge add`, and as the agent of a run.

The agents are those that `make agents` installs, and the model is the scripted one on loopback. An agent that is
not installed is left out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from measure import Row, Times, beside, times
from tests.live.conftest import CLIENTS, LiveProject
from tests.live.trust import trust_hooks

from samuel.clients.table import LAYOUTS
from samuel.proving.model.launch import SCRIPTED_CLIENTS
from samuel.proving.model.server import ModelServer
from samuel.proving.model.wire import FinalText, Step, WireFormat

AGENTS = ("claude", "codex")
CALLS = 25  # in one session
SESSIONS = 4  # of each project
COMMAND = "echo hello"
SETTINGS = """
[methodology.ralph]
agent = "{agent}"
pause = "0s"
max_iterations = 1
quality_checks = ["true"]
"""

GUARD = """\
import samuel


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "rm -rf" in str(event.tool_input):
        return {"decision": "deny", "reason": "not here"}
"""


def run(scratch: Path) -> Iterator[Row]:
    for agent in AGENTS:
        if (CLIENTS / "bin" / agent).exists():
            # As in the live suite: agents behave in another way in the temporary directory.
            with tempfile.TemporaryDirectory(prefix="bench-", dir=CLIENTS, ignore_cleanup_errors=True) as place:
                yield from measured(agent, Path(place), scratch)


def measured(agent: str, directory: Path, runtime: Path) -> Iterator[Row]:
    names = ("bare", "one-hook", "two-hooks", "guarded")
    projects = [_project(directory / name, runtime) for name in names]
    _, one_hook, two_hooks, guarded = projects
    for project in projects[1:]:
        project.write(".samuel/hooks/guard.py", GUARD)
        project.samuel("trust", "--yes")
        project.samuel("bridge", "add", "--project", agent)
    for project, events in ((one_hook, ("PreToolUse",)), (two_hooks, ("PreToolUse", "PostToolUse"))):
        file = project.root / LAYOUTS[agent].project[0].path
        hooks = json.loads(file.read_text())["hooks"]
        nothing = {event: _with_command(hooks[event], "true") for event in events}
        file.write_text(json.dumps({"hooks": nothing}))
    for project in projects[1:]:
        trust_hooks(project, agent)
    unguarded, with_one, with_two, ours = calls_of(agent, *projects)
    guarded.samuel("serve", "stop")
    yield beside(f"a guarded tool call in {agent}, vs an unguarded one", ours, unguarded)
    yield beside(f"a call with one hook of {agent} that runs `true`, vs an unguarded one", with_one, unguarded)
    yield beside("the same with two of them, as a guarded call has", with_two, unguarded)
    added = Times(ours.p50 - with_two.p50, max(ours.p95 - with_two.p95, 0.0))
    yield beside("what Samuel adds to these two, vs an unguarded call", added, unguarded)
    if agent == "claude":
        yield from measured_with_http(directory, runtime)
    yield from measured_in_run(agent, directory, runtime)


def measured_with_http(directory: Path, runtime: Path) -> Iterator[Row]:
    """Claude Code can also post its events to a URL, which starts no process."""
    bare, posting = (_project(directory / name, runtime) for name in ("bare-http", "http"))
    with ThreadingHTTPServer(("127.0.0.1", 0), AnswersAtOnce) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        hook = {"type": "http", "url": f"http://127.0.0.1:{server.server_port}/"}
        hooks = {event: [{"matcher": "*", "hooks": [hook]}] for event in ("PreToolUse", "PostToolUse")}
        posting.write(".claude/settings.json", json.dumps({"hooks": hooks}))
        unguarded, posted = calls_of("claude", bare, posting)
        server.shutdown()
    if AnswersAtOnce.calls < 2 * CALLS:
        raise RuntimeError("claude did not post its tool calls")
    yield beside("a call with http hooks of claude that answer at once, vs an unguarded one", posted, unguarded)


class AnswersAtOnce(BaseHTTPRequestHandler):
    """A hook without an opinion."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    calls = 0

    def do_POST(self) -> None:
        AnswersAtOnce.calls += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: stderr is for what goes wrong."""


def measured_in_run(agent: str, directory: Path, runtime: Path) -> Iterator[Row]:
    """The same as the agent of a run: with the run's server, and without it."""
    names = ("bare-run", "warm-run", "cold-run")
    bare, _, cold = projects = [_project(directory / name, runtime) for name in names]
    cold.env["SAMUEL_SERVE"] = "off"
    for project in projects:
        project.write("samuel.toml", SETTINGS.format(agent=agent))
        if project is not bare:
            project.write(".samuel/hooks/guard.py", GUARD)
        project.samuel("trust", "--yes")
    seconds: dict[LiveProject, list[float]] = {project: [] for project in projects}
    for _ in range(SESSIONS):
        for project, samples in seconds.items():
            samples += session_in_run(project, agent)[2:]  # before, the server may not listen yet
    unguarded, ours, without = (times(samples) for samples in seconds.values())
    yield beside(f"a guarded tool call of {agent} in a run, vs an unguarded one", ours, unguarded)
    yield beside("the same without the server of the run", without, unguarded)


def _with_command(value: Any, command: str) -> Any:
    """The settings of an agent with this command in place of all others."""
    if isinstance(value, list):
        return [_with_command(item, command) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: command if key == "command" else _with_command(item, command) for key, item in value.items()}


def session(project: LiveProject, agent: str) -> list[float]:
    """Run the agent once; the seconds from each call of its model to the request that has its result."""
    client = SCRIPTED_CLIENTS[agent]
    with TimedModel([*[client.shell(COMMAND)] * CALLS, FinalText("All finished.")]) as model:
        launch = client.launch(model.url, project.settings, project.env)
        project.run(launch.with_prompt("Do what the script says."), {**project.env, **launch.env})
        request_times = [model.request_times[number] for number in range(CALLS + 1)]
    return [after - before for before, after in pairwise(request_times)]


def session_in_run(project: LiveProject, agent: str) -> list[float]:
    """The same with the agent as the one of a run of one iteration."""
    project.write("prd.md", "# Plan\n\n- [ ] 1.1 Say hello\n")
    project.samuel("run", "init", "--prd", "prd.md", "--yes", "--force")
    with TimedModel([*[SCRIPTED_CLIENTS[agent].shell(COMMAND)] * CALLS, FinalText("All finished.")]) as model:
        project.start_run(agent, model)
        request_times = [model.request_times[number] for number in range(CALLS + 1)]
    return [after - before for before, after in pairwise(request_times)]


def calls_of(agent: str, *projects: LiveProject) -> list[Times]:
    """What a tool call takes in each project. They take turns."""
    for project in projects:
        session(project, agent)  # the first one starts the server
    seconds: list[list[float]] = [[] for _ in projects]
    for _ in range(SESSIONS):
        for project, samples in zip(projects, seconds, strict=True):
            samples += session(project, agent)
    return [times(samples) for samples in seconds]


class TimedModel(ModelServer):
    """A model that notes when it was first told of so many results."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(steps)
        self.request_times: dict[int, float] = {}

    def answer(self, wire: WireFormat, body: dict[str, Any]) -> tuple[Step, str]:
        if wire.tools(body):
            self.request_times.setdefault(len(wire.tool_results(body)), time.perf_counter())
        return super().answer(wire, body)


def _project(directory: Path, runtime: Path) -> LiveProject:
    directory.mkdir()
    project = LiveProject(directory)
    project.env["XDG_RUNTIME_DIR"] = str(runtime)
    return project
