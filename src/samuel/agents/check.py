"""Which agents are there, where they will run, and in which version."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.printable import shell_word
from samuel.clients.adapter.agent import Agent
from samuel.confine import sandbox as sandboxes
from samuel.confine.sandbox.bwrap import is_hidden
from samuel.process import environment, spawn
from samuel.process.reason import NotRunnable

SCRIPTED = "scripted"
_TIMEOUT = 60.0
_VERSION_OUTPUT_LIMIT = 64 * 1024
DEADLINE = 20.0  # seconds; under load a client needs several to print its version
_AT_ONCE = 8
_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[\w.+-]*\w)?")


def missing(agent: Agent, path: str, root: Path = Path()) -> str:
    """What would install the agent's program; "" when it is on this `PATH`, or at its place below `root`."""
    program = agent.command[0]
    if agent.name == SCRIPTED:
        return _step_not_executable(root)
    where = "which does not exist" if "/" in program else "which is not on PATH"
    if shutil.which(str(root / program) if "/" in program else program, path=path):
        return ""
    if "/" in program and (root / program).is_file():
        return _not_executable(agent.name, program)
    return f"the agent `{agent.name}` needs `{program}`, {where}" + _install(agent)


def _step_not_executable(root: Path) -> str:
    """The first step of the scripted agent that could not be run: a script by itself, or one of several attempts.

    Other files in a directory are copied into the project, and need no permission.
    """
    steps = root / paths.SCRIPTED
    for file in sorted([*steps.glob("*"), *steps.glob("*/[0-9]*")]):
        if file.is_file() and not os.access(file, os.X_OK) and _is_script(file):
            return _not_executable(SCRIPTED, str(file.relative_to(root)))
    return ""


def _not_executable(name: str, path: str) -> str:
    return f"the agent `{name}` cannot run `{path}`: permission denied; `chmod +x {shell_word(path)}`"


def _is_script(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(2) == b"#!"


def missing_in(agent: Agent, sandbox: sandboxes.SandboxRequest, place: sandboxes.Workspace) -> str:
    """The same for a sandbox: first whether it works at all, then whether the program is there inside."""
    path = place.host.get("PATH") or environment.DEFAULT_PATH
    if sandbox.kind == sandboxes.HOST or (agent.name == SCRIPTED and _step_not_executable(place.root)):
        return missing(agent, path, place.root)
    if why := sandboxes.missing(sandbox, place):
        return why
    program = agent.command[0]
    look = ["/bin/sh", "-c", 'command -v "$0" >/dev/null', program]
    try:
        with sandboxes.confined(look, sandbox, place, environment.clean(base=place.host)) as command:
            looked = spawn.run(
                command.argv, cwd=str(place.root), env=command.env, timeout=_TIMEOUT, pass_fds=command.pass_fds
            )
    except NotRunnable as error:
        return str(error)
    if looked.ended == "exited" and looked.returncode == 0:
        return ""
    if sandbox.kind == sandboxes.BWRAP and is_hidden(program):
        what = f"the agent `{agent.name}` needs `{program}`, which is hidden in the sandbox `{sandbox.kind}`"
        return f"{what}: it has a `/{program.split('/')[1]}` of its own; install it elsewhere"
    where = f"the image `{sandbox.image}`" if sandbox.image else f"the sandbox `{sandbox.kind}`"
    return f"the agent `{agent.name}` needs `{program}`, which {where} does not have" + _install(agent)


def version_number(text: str) -> str:
    """The number in what a program printed about its version, like `1.18.33`; "" if there is none."""
    number = _NUMBER.search(text)
    return number[0] if number else ""


def version_line(finished: spawn.Finished) -> str:
    """The first line that a program printed about its version; some print it on stderr."""
    lines = (finished.stdout.strip() or finished.stderr.strip()).decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines else ""


def _install(agent: Agent) -> str:
    return f"; to install it: {agent.install}" if agent.install else ""


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
    search_path = host.get("PATH") or environment.DEFAULT_PATH
    path = shutil.which(str(root / program) if "/" in program else program, path=search_path) or ""
    version = problem = ""
    if path and agent.version:
        version, problem = _version(agent, host, root, deadline)
    name = "" if agent.name == SCRIPTED else program  # it ships with Samuel
    return InstalledAgent(agent.name, name, path, version, agent.checked, agent.install, problem)


def _version(agent: Agent, host: Mapping[str, str], root: Path, deadline: float) -> tuple[str, str]:
    """The first line that the program prints about its version, or why there is none."""
    finished = spawn.run(
        agent.version,
        cwd=str(root),
        env=environment.clean(base=host),
        timeout=deadline,
        output_limit=_VERSION_OUTPUT_LIMIT,
    )
    command = " ".join(agent.version)
    if finished.ended == "timed_out":
        return "", f"`{command}` did not end within {deadline:g}s"
    if finished.ended != "exited" or finished.returncode != 0:
        return "", f"`{command}` failed: {finished.why or f'exit code {finished.returncode}'}"
    version = version_line(finished)
    return version, "" if version else f"`{command}` printed nothing"
