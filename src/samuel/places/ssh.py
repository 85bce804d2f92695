"""A machine that OpenSSH reaches: the `ssh` on PATH, with the user's own configuration, keys and known hosts.

Authentication, encryption, the stream and the exit code come with it. The command's input stays open while its
work is wanted. When the connection breaks on either side, the input ends, and the command ends what it started.
"""

from __future__ import annotations

import os
import shlex
import shutil

from samuel.base.errors import SamuelError
from samuel.base.printable import shell_word
from samuel.config.place_spec import PlaceSpec
from samuel.places.place import PlaceBroken, PlaceCommand, PlaceLost
from samuel.places.process import ProcessConnection
from samuel.process import spawn
from samuel.process.reason import NotRunnable

ALIVE_EVERY = 15  # seconds
CONNECTION_LOST = 255  # ssh's own exit code, and that of a command that a signal ended
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # exit codes of the shell there
HIGHEST_OWN = 128  # what is above is a signal; `samuel attempt` itself ends with 0 or 1
OPTIONS = (
    "-T",  # no terminal
    *("-o", "BatchMode=yes"),  # there is no one to type a password
    *("-o", "ConnectTimeout=20"),
    *("-o", f"ServerAliveInterval={ALIVE_EVERY}"),
    *("-o", "ServerAliveCountMax=4"),
    # Never the master of others: ending one attempt would end those beside it. A master that the user opened is
    # used, because behind a one-time password there is no other way in.
    *("-o", "ControlMaster=no"),
    *("-o", "ForwardAgent=no"),
    *("-o", "ForwardX11=no"),
    *("-o", "ClearAllForwardings=yes"),
)
REFUSED = ("permission denied", "host key verification failed", "could not resolve hostname")
PASSES = "temporary failure"  # of a name server


class SshPlace:
    def __init__(self, spec: PlaceSpec, program: str, silence: float) -> None:
        """`program` is the `samuel` on that machine."""
        self.name = spec.name
        self.slots = spec.slots
        self._host = spec.address
        self._remote_program = program
        self._silence = silence
        self._connections: list[ProcessConnection] = []

    def start(self, command: PlaceCommand) -> ProcessConnection:
        # ssh joins its words with spaces and hands them to a shell, so there is one word, quoted for that shell.
        remote = " ".join((quoted_program(self._remote_program), *map(shlex.quote, command.arguments)))
        try:
            process = spawn.start(["ssh", *OPTIONS, "--", self._host, remote], cwd="/", env=os.environ)
        except NotRunnable as error:
            raise PlaceBroken(f"`ssh` cannot be started: {error}") from None
        connection = ProcessConnection(process, command.request, self.judge, self._silence, self.name)
        self._connections = [other for other in self._connections if other.is_open] + [connection]
        return connection

    def close(self) -> None:
        for connection in self._connections:
            connection.cancel()

    def judge(self, code: int, stderr: str) -> SamuelError | None:
        """What the end of a command means."""
        last = stderr.splitlines()[-1] if stderr else "it gave no reason"
        if code == NOT_FOUND:
            return PlaceBroken(
                f"`{self._remote_program}` was not found at `{self.name}`",
                "install Samuel there, or set `program` below [fleet] to its path",
            )
        if code == NOT_EXECUTABLE:
            return PlaceBroken(f"`{self._remote_program}` cannot be executed at `{self.name}`: {last}")
        if code == CONNECTION_LOST or code < 0:
            reason = last.lower()  # the lines before may be warnings, or a banner
            is_refused = PASSES not in reason and any(words in reason for words in REFUSED)
            kind = PlaceBroken if is_refused else PlaceLost
            return kind(
                f"the connection to `{self.name}` is gone: {last}",
                f"try `ssh {shell_word(self._host)} {quoted_program(self._remote_program)} --version`",
            )
        if 1 < code <= HIGHEST_OWN:
            return PlaceBroken(
                f"`{self._remote_program}` at `{self.name}` ended with exit code {code}: {last}",
                "install the same version of Samuel there",
            )
        if code > HIGHEST_OWN:
            return PlaceLost(f"the command at `{self.name}` was killed: {last}")
        return None

    def problem(self) -> str:
        if shutil.which("ssh") is None:
            return f"`{self.name}` needs `ssh`, which is not on PATH: install the OpenSSH client"
        return ""


def quoted_program(program: str) -> str:
    """The program quoted for a shell, which still replaces a `~/` in front."""
    if program.startswith("~/"):
        return "~/" + shlex.quote(program[2:])
    return shlex.quote(program)
