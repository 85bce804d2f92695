"""Servers that are about to listen: a file beside the socket names the process, from its start until it listens.

A server needs a tenth of a second to import what it needs. Until then nothing but this file says that it will be
there, and `samuel serve stop` right after a call would miss it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

ENDING = ".starting"
PATIENCE = 10.0
"""Seconds to wait for a server that is starting."""


def note(path: str, pid: int) -> None:
    """Note that this process will listen at `path`."""
    with suppress(OSError):
        fd = os.open(path + ENDING, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(str(pid))


def forget(path: str) -> None:
    """The server listens, or will never do so."""
    with suppress(OSError):
        os.unlink(path + ENDING)


def await_all(directory: str, prefix: str, is_served: Callable[[str], bool]) -> None:
    """Wait until each server that is starting in `directory` listens, has ended, or takes too long."""
    until = time.monotonic() + PATIENCE
    for name in os.listdir(directory):
        if name.startswith(prefix) and name.endswith(ENDING):
            path = f"{directory}/{name.removesuffix(ENDING)}"
            while not is_served(path) and _is_alive(path) and time.monotonic() < until:
                time.sleep(0.02)
            forget(path)


def _is_alive(path: str) -> bool:
    """Whether the process that was noted for `path` exists; False once it listens."""
    try:
        with open(path + ENDING) as file:
            os.kill(int(file.read(20)), 0)
    except (OSError, ValueError):
        return False
    return True
