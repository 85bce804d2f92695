"""Which agents are installed on this machine, and in which version: all programs are asked at the same time."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from samuel.agents.check import SCRIPTED, VERSION_OUTPUT_LIMIT, version_line
from samuel.clients.adapter.agent import Agent
from samuel.process import environment, spawn

DEADLINE = 20.0  # seconds; under load a client needs several to print its version
_AT_ONCE = 8


class InstalledAgent(NamedTuple):
    """An agent, and its program on this machine."""

    name: str
    program: str
    path: str
    """Where the program is; "" if it is not there."""
    version: str
    """As the program prints it; "" if it is not there, did not say or was not asked."""
    checked: str
    """The version that the adapter was checked with; "" if it was not."""
    install: str
    """What would install it."""
    problem: str = ""
    """Why the version is not known though the program is there."""


def installed_agents(
    agents: Iterable[Agent], host: Mapping[str, str], root: Path, deadline: float = DEADLINE
) -> list[InstalledAgent]:
    """The agents in this order. One that does not print its version within `deadline` seconds is ended."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="version") as pool:
        return list(pool.map(lambda agent: _installed(agent, host, root, deadline), agents))


def _installed(agent: Agent, host: Mapping[str, str], root: Path, deadline: float) -> InstalledAgent:
    program = agent.command[0]
    path = _path(program, host, root)
    version = problem = ""
    if path and agent.version:
        version, problem = _version(agent, host, root, deadline)
    name = "" if agent.name == SCRIPTED else program  # it ships with Samuel
    return InstalledAgent(agent.name, name, path, version, agent.checked, agent.install, problem)


def _path(program: str, host: Mapping[str, str], root: Path) -> str:
    search_path = host.get("PATH") or environment.DEFAULT_PATH
    return shutil.which(str(root / program) if "/" in program else program, path=search_path) or ""


def _version(agent: Agent, host: Mapping[str, str], root: Path, deadline: float) -> tuple[str, str]:
    """The first line that the program prints about its version, or why there is none."""
    finished = spawn.run(
        agent.version,
        cwd=str(root),
        env=environment.clean(base=host),
        timeout=deadline,
        output_limit=VERSION_OUTPUT_LIMIT,
    )
    command = " ".join(agent.version)
    if finished.ended == "timed_out":
        return "", f"`{command}` did not end within {deadline:g}s"
    if finished.ended != "exited" or finished.returncode != 0:
        return "", f"`{command}` failed: {finished.why or f'exit code {finished.returncode}'}"
    version = version_line(finished)
    return version, "" if version else f"`{command}` printed nothing"
