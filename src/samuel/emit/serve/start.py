"""Starting the server of a project: by the first call that finds none, for the calls after it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.base.errors import SamuelError
from samuel.emit.serve import starting
from samuel.emit.serve.socket_name import (
    ENDING,
    candidates,
    is_private,
    project_name,
    runtime_directory,
    socket_path,
)
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.process.emit_client import NESTED, OFF, SWITCH, installation_of
from samuel.process.live import all_enclosing

if TYPE_CHECKING:
    from samuel.app import App

MOST_SERVERS = 4
"""How many servers one project has: one for each set of variables that hooks see."""
LONG_IDLE = 30.0
"""Seconds without a call after which a server makes room for another one."""


def start_for(app: App) -> None:
    """Start a server for the calls after this one, where the user trusts something that it could run.

    It must not be below this process in any way: the caller waits for what holds its output, and ends what is left
    in its process group.
    """
    if why_not(app):
        return
    installation = installation_of(sys.argv[0], sys.executable)
    prepare_directory(app.paths.root)
    path = socket_path(str(app.paths.root), installation, os.environb)
    if not path or is_served(path):
        return
    others = sockets(app.paths.root, installation)
    if len(others) >= MOST_SERVERS and not stop_idle(others):
        return
    words = [sys.executable, "-P", "-m", "samuel", "serve", "--socket", path, "--installation", installation]
    try:
        process = subprocess.Popen(
            words,
            cwd=app.paths.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return  # the next call tries again
    process.returncode = 0  # never waited for: it outlives us
    starting.note(path, process.pid)


def stop_idle(paths: Sequence[str], seconds: float = LONG_IDLE) -> bool:
    """Stop the server that has been idle longest, if it was idle long enough; whether one was stopped.

    An agent that changes a variable which hooks see each time it starts leaves a server behind.
    """
    from samuel.emit.serve import wire  # hardly ever needed
    from samuel.emit.serve.control import ask

    try:
        servers = [status for path in paths if not (status := ask(path, wire.STATUS)).under_way]
        longest = max(servers, key=lambda status: status.idle_s, default=None)
        if longest is None or longest.idle_s < seconds:
            return False
        ask(longest.socket, wire.STOP)
    except SamuelError:  # one that does not answer, or is gone already
        return False
    return True


def why_not(app: App) -> str:
    """Why no server is started for a project; "" if one is."""
    if os.environ.get(SWITCH) == OFF:
        return f"`{SWITCH}` is off"
    if os.environ.get(NESTED):
        return "this process was started by a hook"
    if all_enclosing(app.user.live):
        return "this process belongs to a run"
    if not has_something_to_run(app):
        if all(handler.origin is Origin.BUILT_IN for handler in app.handlers):
            return "this project has no hooks"
        return "no hook of this project can run; `samuel hooks list` says why"
    return ""


def has_something_to_run(app: App) -> bool:
    """Whether there is a hook that the user trusts, here or around: without one, nothing is served."""
    try:
        return _has_trusted_hook(app) or any(map(_has_trusted_hook, app.enclosing))
    except SamuelError:  # a project around this one cannot be opened
        return False


def _has_trusted_hook(app: App) -> bool:
    return any(
        handler.origin is not Origin.BUILT_IN
        and handler.status is HandlerStatus.ACTIVE
        and not app.permit(handler)
        for handler in app.handlers
    )


def prepare_directory(root: Path) -> None:
    """Make the directory of the sockets, if it can be made and there is none yet."""
    for directory in candidates(os.environb, str(root)):
        with suppress(OSError):
            os.mkdir(directory, 0o700)
        if is_private(directory):
            return


def is_served(path: str) -> bool:
    """Whether a server listens there. A killed one leaves its socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def sockets(root: Path, installation: str, *, await_starting: bool = False) -> list[str]:
    """The sockets of a project's servers, one for each set of variables that hooks see.

    `await_starting` waits for servers that calls before this one have started.
    """
    directory = runtime_directory(os.environb, str(root))
    if not directory:
        return []
    prefix = project_name(str(root), installation)
    if await_starting:
        starting.await_all(directory, prefix, is_served)
    names = (name for name in os.listdir(directory) if name.startswith(prefix) and name.endswith(ENDING))
    return [path for name in sorted(names) if is_served(path := f"{directory}/{name}")]
