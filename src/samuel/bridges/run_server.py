"""The server of one agent process of a run: `samuel serve`, started and ended by the loop, for its hooks alone.

It has the environment that the agent's hooks have, so it opens the same project, in the same lane, with the same
names and pins of the run. It ends with the loop, whose pipe it reads, however the loop ends.

The agent belongs to the same user, and could kill the server and listen at its path. So clients are told which
process it is, by its number and the time when it started, and ask no other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.process import procfs, spawn, tree
from samuel.process.emit_client import (
    LONGEST_SOCKET_PATH,
    NATIVE_CLIENT,
    NESTED,
    OFF,
    SERVER_OPTION,
    SWITCH,
    installation_of,
)
from samuel.process.reason import NotRunnable

FOR_RUN = "--for-run"
_GRACE = 1.0  # seconds for it to close its journal and to end its workers


class ServerAddress(NamedTuple):
    """Where the server of a run listens, and which process it is."""

    client: str
    """The program that asks it."""
    path: str
    pid: int
    born: int
    """When the process started, in the ticks of /proc: no later process has both this and its number."""

    def words(self, fallback: Path) -> tuple[str, ...]:
        """The command that asks this process and no other, and becomes `fallback` where it does not answer."""
        return (self.client, SERVER_OPTION, self.path, str(self.pid), str(self.born), str(fallback))


class RunServer:
    """The server while an agent works. Where there can be none, every call is answered by a process of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._directory = ""

    def start(self, root: Path, variables: Mapping[str, str], host: Mapping[str, str]) -> ServerAddress | None:
        """Start it for the project at `root`, with the `variables` of the hooks; None where there can be none.

        It is not waited for: calls before it listens are answered without it.
        """
        installation = _installation()
        if host.get(SWITCH) == OFF or variables.get(NESTED) or not installation or not procfs.available():
            return None
        try:
            self._directory = _private_directory()
            path = f"{self._directory}/socket"
            words = ("serve", FOR_RUN, "--socket", path, "--installation", installation)
            self._process = spawn.start(
                [sys.executable, "-P", "-m", "samuel", "-C", str(root), *words],
                cwd="/",
                env=variables,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, NotRunnable):
            self.end()
            return None
        pid = self._process.pid
        return ServerAddress(f"{installation}/{NATIVE_CLIENT}", path, pid, procfs.born(pid))

    def end(self) -> None:
        """End it and whatever its hooks left running."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            tree.end(self._process, _GRACE)
            self._process = None
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = ""


def _installation() -> str:
    """The directory of this installation's programs; "" if the ones that a call needs are not both there."""
    directory = installation_of(sys.argv[0], sys.executable)
    programs = (os.path.join(directory, name) for name in (NATIVE_CLIENT, "samuel"))
    return directory if all(os.access(program, os.X_OK) for program in programs) else ""


def _private_directory() -> str:
    """A new directory that only this user can enter, with a path that leaves room for the name of a socket."""
    place = tempfile.gettempdir()
    room = len(os.fsencode(place)) + len("/samuel-run-") + 16 + len("/socket.lock") <= LONGEST_SOCKET_PATH
    return tempfile.mkdtemp(prefix="samuel-run-", dir=place if room else "/tmp")
