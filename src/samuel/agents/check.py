"""Before a loop starts: is the agent there, where it will run, and which version is it?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from samuel.agents.agent import Agent
from samuel.process import confine, environment, spawn
from samuel.process.reason import NotRunnable

_TIMEOUT = 60.0
_TOO_MUCH = 64 * 1024


def missing(agent: Agent, path: str, root: Path = Path()) -> str:
    """What would install the agent's program; "" when it is on this `PATH`, or at its place below `root`."""
    program = agent.command[0]
    if "/" not in program:
        found = shutil.which(program, path=path) is not None
        where = "which is not on PATH"
    else:
        file = root / program
        found = file.is_file() and os.access(file, os.X_OK)
        where = "which is not executable" if file.is_file() else "which does not exist"
    return "" if found else f"the agent `{agent.name}` needs `{program}`, {where}" + _install(agent)


def missing_in(agent: Agent, sandbox: confine.Sandbox, place: confine.Place) -> str:
    """The same for a sandbox: first whether it works at all, then whether the program is there inside."""
    path = place.host.get("PATH") or environment.DEFAULT_PATH
    if sandbox.kind == confine.HOST:
        return missing(agent, path, place.root)
    if why := confine.missing(sandbox, place):
        return why
    program = agent.command[0]
    look = ["/bin/sh", "-c", 'command -v "$0" >/dev/null', program]
    try:
        with confine.confined(look, sandbox, place, environment.clean(base=place.host)) as command:
            looked = spawn.run(
                command.argv, cwd=str(place.root), env=command.env, timeout=_TIMEOUT, pass_fds=command.pass_fds
            )
    except NotRunnable as error:
        return str(error)
    if looked.ended == "exited" and looked.returncode == 0:
        return ""
    where = f"the image `{sandbox.image}`" if sandbox.image else f"the sandbox `{sandbox.kind}`"
    return f"the agent `{agent.name}` needs `{program}`, which {where} does not have" + _install(agent)


def version(agent: Agent, host: Mapping[str, str], root: Path) -> str:
    """What its version probe prints first; "" without one, or when it fails."""
    if not agent.version:
        return ""
    env = environment.clean(base=host)
    asked = spawn.run(agent.version, cwd=str(root), env=env, timeout=_TIMEOUT, output_limit=_TOO_MUCH)
    said = asked.stdout.decode("utf-8", "replace").strip().splitlines()
    return said[0] if asked.ended == "exited" and asked.returncode == 0 and said else ""


def _install(agent: Agent) -> str:
    return f"; to install it: {agent.install}" if agent.install else ""
