"""A project, a host's environment with secrets in it, and programs that write down how they were called."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from samuel.agents.invoke import AgentCall, AgentLimits, AgentSurroundings, Invoked, invoke
from samuel.clients.adapter.agent import Agent

RECORDER = """#!{python} -IS
import json, os, sys
record = {{"argv": sys.argv, "stdin": sys.stdin.read(), "env": dict(os.environ), "cwd": os.getcwd()}}
for word in sys.argv[1:]:
    if os.path.isfile(word):
        record["file"] = open(word).read()
        record["mode"] = oct(os.stat(word).st_mode & 0o777)
json.dump(record, open({record!r}, "w"))
print("hello from", os.path.basename(sys.argv[0]))
"""


@dataclass(frozen=True)
class Box:
    """What a sandbox is, for anything that asks."""

    kind: str = "host"
    image: str | None = None
    network: bool = True
    volumes: list[str] = field(default_factory=list)


class Desk:
    """One project, and `run(agent, prompt)` with everything else filled in."""

    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.state = self.root / ".samuel" / "run"
        self.bin = base / "bin"
        self.record = base / "record.json"
        self.state.mkdir(parents=True)
        self.bin.mkdir()
        self.host = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(base),
            "LANG": "C.UTF-8",
            "LD_PRELOAD": "/evil.so",
            "AWS_SECRET_ACCESS_KEY": "not-for-agents",
            "SAMUEL_TRUST": "all",
        }

    def program(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def recorder(self, name: str) -> Path:
        return self.program(name, RECORDER.format(python=sys.executable, record=str(self.record)))

    def sh(self, body: str, **fields: Any) -> Agent:
        return Agent(name="test", command=("/bin/sh", "-c", body), **fields)

    def run(self, agent: Agent, prompt: str = "Do it.", **options: Any) -> Invoked:
        options = {
            "env": {},
            "sandbox": Box(),
            "root": self.root,
            "state": self.state,
            "iteration": 7,
            "timeout": 120.0,
            "environment": self.host,
            **options,
        }
        options["prompt"] = prompt

        def of(kind: Any) -> Any:
            return kind(**{name: options.pop(name) for name in kind.__struct_fields__ if name in options})

        return invoke(agent, of(AgentCall), of(AgentSurroundings), of(AgentLimits), **options)

    def recorded(self) -> dict[str, Any]:
        invocation: dict[str, Any] = json.loads(self.record.read_text())
        return invocation

    def everything_on_disk(self) -> str:
        """All that is under the project, as one text: for looking for what must not be there."""
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return "\n".join(f"{path}\n{path.read_text(errors='replace')}" for path in files)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def box() -> Callable[..., Box]:
    return Box
