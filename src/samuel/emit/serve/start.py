"""Starting the server of a project: by the first call that finds none, for the calls after it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.base.errors import SamuelError
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
STARTING = ".starting"
"""The ending of a file beside the socket that names a server's process, from its start until it listens."""
PATIENCE = 10.0
"""Seconds to wait for a server that is starting."""


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
    note_starting(path, process.pid)


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


def sockets(root: Path, installation: str, *, with_starting: bool = False) -> list[str]:
    """The sockets of a project's servers, one for each set of variables that hooks see.

    `with_starting` waits for servers that calls before this one have started.
    """
    directory = runtime_directory(os.environb, str(root))
    if not directory:
        return []
    prefix = project_name(str(root), installation)
    if with_starting:
        await_starting(directory, prefix)
    names = (name for name in os.listdir(directory) if name.startswith(prefix) and name.endswith(ENDING))
    return [path for name in sorted(names) if is_served(path := f"{directory}/{name}")]


def note_starting(path: str, pid: int) -> None:
    """Note that this process will listen at `path`: nothing else says so until it has imported what it needs.

    `samuel serve stop` right after a call would miss it.
    """
    with suppress(OSError):
        fd = os.open(path + STARTING, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(str(pid))


def forget_starting(path: str) -> None:
    """The server listens, or will never do so."""
    with suppress(OSError):
        os.unlink(path + STARTING)


def await_starting(directory: str, prefix: str) -> None:
    """Wait until each server that is starting in `directory` listens, has ended, or takes too long."""
    until = time.monotonic() + PATIENCE
    for name in os.listdir(directory):
        if name.startswith(prefix) and name.endswith(STARTING):
            path = f"{directory}/{name.removesuffix(STARTING)}"
            while not is_served(path) and _is_starting(path) and time.monotonic() < until:
                time.sleep(0.02)
            forget_starting(path)


def _is_starting(path: str) -> bool:
    """Whether the process that was noted for `path` exists; False once it listens."""
    try:
        with open(path + STARTING) as file:
            os.kill(int(file.read(20)), 0)
    except (OSError, ValueError):
        return False
    return True
