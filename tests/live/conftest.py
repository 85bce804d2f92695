"""Real clients against the scripted model, each with a home and a project of its own.

`make agents` installs the clients and runs all of this. `make rest` runs a short form where they are installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.length import FULL
from tests.live.install import clients_directory

from samuel.clients.table import AGENTS
from samuel.proving.model.launch import SCRIPTED_CLIENTS
from samuel.proving.model.server import ModelServer
from samuel.proving.model.wire import FinalText, ToolResult

CLIENTS = clients_directory()
# Those that Samuel runs as agents; without FULL the one that starts in the shortest time.
NAMES = tuple(name for name in SCRIPTED_CLIENTS if name in AGENTS) if FULL else ("codex",)
PATIENCE = 600  # seconds; for a client that hangs


LOOP_VARIABLES = {
    "IS_SANDBOX": "1",  # claude skips no permissions for root without it
    "OPENAI_API_KEY": "samuel-canary-key",
}

# What these clients read from the user's files only: the loop decides about their command line.
HOME_FILES: dict[str, Callable[[str], dict[str, str]]] = {
    "codex": lambda url: {
        ".codex/config.toml": f"""
model = "gpt-5.5"
model_provider = "samuel"
[model_providers.samuel]
name = "Samuel"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[analytics]
enabled = false
[features]
plugins = false
apps = false
"""
    },
    "gemini": lambda url: {
        ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}},'
        ' "general": {"enableAutoUpdate": false}, "model": {"name": "gemini-2.5-flash"}}'
    },
    "qwen": lambda url: {
        ".qwen/settings.json": '{"security": {"auth": {"selectedType": "openai"}},'
        ' "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}'
    },
}


class Played(NamedTuple):
    """One run of a client, and what the model was told in it."""

    code: int
    printed: str
    results: tuple[ToolResult, ...]

    @property
    def results_text(self) -> str:
        """All that the model was told about its calls."""
        return "\n".join(result.text for result in self.results)


class LiveProject:
    """A project and a home in which clients run."""

    def __init__(self, directory: Path) -> None:
        self.home, self.root, self.settings = directory / "home", directory / "project", directory / "settings"
        for place in (self.home, self.root, self.settings):
            place.mkdir()
        path = (CLIENTS / "bin", Path(sys.executable).parent, "/usr/local/bin", "/usr/bin", "/bin")
        self.env = {"HOME": str(self.home), "PATH": os.pathsep.join(map(str, path)), "LANG": "C.UTF-8"}
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, env=self.env)

    def samuel(self, *arguments: str, expected: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run the installed command in the project."""
        done = self.run(("samuel", *arguments), self.env)
        assert expected is None or done.returncode == expected, done.stdout + done.stderr
        return done

    def answer(self, *arguments: str) -> Any:
        """The data of a command's JSON, whatever it exited with."""
        return json.loads(self.samuel(*arguments, "--json", expected=None).stdout)["data"]

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def play(self, name: str, *commands: str, env: Mapping[str, str] | None = None) -> Played:
        """Run a client by itself; its model calls these commands, one after the other."""
        client = SCRIPTED_CLIENTS[name]
        steps = [client.shell(command) for command in commands]
        with ModelServer([*steps, FinalText("All finished.")]) as model:
            launch = client.launch(model.url, self.settings, self.env)
            argv = launch.with_prompt("Do what the script says.")
            done = self.run(argv, {**self.env, **launch.env, **(env or {})})
            return Played(done.returncode, done.stdout + done.stderr, model.tool_results)

    def loop(self, name: str, *commands: str) -> Played:
        """Run the loop with a client as its agent; its model calls these commands, one after the other."""
        client = SCRIPTED_CLIENTS[name]
        steps = [client.shell(command) for command in commands]
        with ModelServer([*steps, FinalText("All finished.")]) as model:
            done = self.start_run(name, model)
            return Played(done.returncode, done.stdout + done.stderr, model.tool_results)

    def start_run(self, name: str, model: ModelServer) -> subprocess.CompletedProcess[str]:
        """`samuel run start` with a client that asks this model."""
        launch = SCRIPTED_CLIENTS[name].launch(model.url, self.settings, self.env)
        files = HOME_FILES[name](model.url) if name in HOME_FILES else {}
        for path, text in files.items():
            file = self.home / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        return self.run(("samuel", "run", "start"), {**self.env, **launch.env, **LOOP_VARIABLES})

    def run(self, argv: tuple[str, ...], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shutil.which(argv[0], path=env["PATH"]) or argv[0], *argv[1:]],
            cwd=self.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )


@pytest.fixture(params=NAMES)
def client(request: pytest.FixtureRequest) -> str:
    """The name of an installed client."""
    name = str(request.param)
    if not (CLIENTS / "bin" / name).exists():
        pytest.skip(f"{name} is not in {CLIENTS}: `make agents` installs it")
    return name


@pytest.fixture
def live() -> Iterator[LiveProject]:
    """A new project. It is not in the temporary directory, where clients behave in another way than in a home."""
    if not CLIENTS.is_dir():
        pytest.skip(f"no client is in {CLIENTS}: `make agents` installs them")
    with tempfile.TemporaryDirectory(prefix="live-", dir=CLIENTS, ignore_cleanup_errors=True) as directory:
        yield LiveProject(Path(directory))
