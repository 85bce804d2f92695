"""A server that is not asked any more makes room for one with other variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.emit.serve.start import stop_idle

PROGRAMS = Path(sys.executable).parent
CALL = json.dumps({"ability_id": "shell", "tool_input": {"command": "ls"}})
GUARD = 'import samuel\n\n\n@samuel.hook("PreAbilityCall", role="guard")\ndef guard(event):\n    pass\n'


class TwoServers:
    """A project that is asked with two sets of variables."""

    def __init__(self, directory: Path, runtime: str) -> None:
        self.root = directory / "project"
        (self.root / ".samuel/hooks").mkdir(parents=True)
        (directory / "home").mkdir()
        self.env = {"HOME": f"{directory}/home", "XDG_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin"}
        self.run("git", "init", "-q")
        (self.root / ".samuel/hooks/guard.py").write_text(GUARD)
        self.run(PROGRAMS / "samuel", "trust", "--yes")

    def run(self, *argv: str | Path, stdin: str = "", **variables: str) -> str:
        env = {**self.env, **variables}
        done = subprocess.run(argv, cwd=self.root, env=env, input=stdin, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout

    def serve(self, number: str) -> str:
        """Start the server for this variable, have it answer once, and give the path of its socket."""
        path = self.run(PROGRAMS / "samuel-emit", "--socket", XDG_NUMBER=number).partition("\n")[0]
        while not any(server["socket"] == path and server["calls"] for server in self.servers()):
            self.run(PROGRAMS / "samuel-emit", "PreAbilityCall", stdin=CALL, XDG_NUMBER=number)
            path = self.run(PROGRAMS / "samuel-emit", "--socket", XDG_NUMBER=number).partition("\n")[0]
        return path

    def servers(self) -> list[dict[str, object]]:
        return list(json.loads(self.run(PROGRAMS / "samuel", "serve", "status", "--json"))["data"])


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TwoServers]:
    with tempfile.TemporaryDirectory(prefix="samuel-") as runtime:  # the path of a socket is short
        project = TwoServers(tmp_path, runtime)
        yield project
        project.run(PROGRAMS / "samuel", "serve", "stop")


@pytest.mark.slow
def test_server_that_was_asked_least_recently_is_stopped(project: TwoServers) -> None:
    first, second = project.serve("1"), project.serve("2")
    assert not stop_idle([first, second], seconds=3600)
    assert stop_idle([second, first], seconds=0)
    while os.path.exists(first):
        time.sleep(0.02)
    assert [server["socket"] for server in project.servers()] == [second]
