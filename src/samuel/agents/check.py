"""Before a loop starts: is the agent there, where it will run, and which version is it?"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from samuel.base import paths
from samuel.base.printable import shell_word
from samuel.clients.adapter.agent import Agent
from samuel.confine import sandbox as sandboxes
from samuel.confine.sandbox.bwrap import is_hidden
from samuel.process import environment, spawn
from samuel.process.reason import NotRunnable

SCRIPTED = "scripted"
_TIMEOUT = 60.0
VERSION_OUTPUT_LIMIT = 64 * 1024
_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[\w.+-]*\w)?")


def missing(agent: Agent, path: str, root: Path = Path()) -> str:
    """What would install the agent's program; "" when it is on this `PATH`, or at its place below `root`."""
    program = agent.command[0]
    if agent.name == SCRIPTED:
        return _step_not_executable(root)
    if "/" not in program:
        installed = shutil.which(program, path=path) is not None
        where = "which is not on PATH"
    elif (root / program).is_file():
        if os.access(root / program, os.X_OK):
            return ""
        return (
            f"the agent `{agent.name}` cannot run `{program}`: permission denied; `chmod +x {shell_word(program)}`"
        )
    else:
        installed, where = False, "which does not exist"
    return "" if installed else f"the agent `{agent.name}` needs `{program}`, {where}" + _install(agent)


def _step_not_executable(root: Path) -> str:
    """The first step of the scripted agent that could not be run: a script by itself, or one of several attempts.

    Other files in a directory are copied into the project, and need no permission.
    """
    steps = root / paths.SCRIPTED
    for file in sorted([*steps.glob("*"), *steps.glob("*/[0-9]*")]):
        if file.is_file() and not os.access(file, os.X_OK) and _is_script(file):
            path = str(file.relative_to(root))
            return f"the agent `{SCRIPTED}` cannot run `{path}`: permission denied; `chmod +x {shell_word(path)}`"
    return ""


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


def version(agent: Agent, host: Mapping[str, str], root: Path) -> str:
    """What its version probe prints first; "" without one, or when it fails."""
    if not agent.version:
        return ""
    env = environment.clean(base=host)
    finished = spawn.run(
        agent.version, cwd=str(root), env=env, timeout=_TIMEOUT, output_limit=VERSION_OUTPUT_LIMIT
    )
    return version_line(finished) if finished.ended == "exited" and finished.returncode == 0 else ""


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
