"""The hooks of one client: in which files they are, how it runs them, and what it asks before it trusts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import TrustFacts

Environment = Mapping[str, str]
Denial = Callable[[str, str], dict[str, object]]
"""The client's event and a reason -> a denial for stdout; {}: exit code 2 and the reason on stderr are enough."""


def _by_exit_code(event: str, reason: str) -> dict[str, object]:
    return {}


class CommandFacts(NamedTuple):
    """How the client runs the command of a hook."""

    project_variable: str = ""
    """Where it says what project it is in: its working directory follows the agent's `cd`."""
    session_directory: str = ""
    """The directory, as a pattern, that it puts first on the PATH of one session.

    With it, hooks would see other variables in each session, and no server of an earlier session could answer.
    """
    exit_code_denies: bool = False
    """Whether exit code 2 denies whatever part of an answer samuel wrote before it failed."""
    denial: Denial = _by_exit_code
    """The denial of a tool call or a prompt in its own words, for when Samuel itself cannot answer."""


class OffSwitch(NamedTuple):
    """The setting that switches all hooks of a client off, and its value then."""

    keys: tuple[str, ...]
    value: object


@dataclass(frozen=True)
class ClientLayout:
    """The files of one client that hold hooks, and what the client makes of them."""

    program: str
    """What the client is called on PATH."""
    project: tuple[EntryFile, ...]
    """Below the project's root; () if the client has no hooks of a project."""
    user: tuple[EntryFile, ...]
    """Below the client's home."""
    home: Callable[[Environment, Path], Path]
    """The client's own directory, from the environment and the user's home directory."""
    command: CommandFacts = field(default_factory=CommandFacts)
    trust: TrustFacts = field(default_factory=TrustFacts)
    off_switch: OffSwitch | None = None

    def home_of(self, environment: Environment) -> Path:
        """The client's own directory, for the user that this environment belongs to."""
        return self.home(environment, Path(environment.get("HOME") or "/"))


def home_directory(default: str, *variables: str, below: str = "") -> Callable[[Environment, Path], Path]:
    """The directory `default` of the user's home, or what the first of these variables names."""

    def home(environment: Environment, user_home: Path) -> Path:
        for variable in variables:
            if value := environment.get(variable):
                return Path(value) / below
        return user_home / default

    return home


def grouped_entry(event: str, command: str) -> dict[str, object]:
    """An entry of a client of Claude's family that counts a timeout in seconds."""
    return {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}]}


def grouped_entry_ms(event: str, command: str) -> dict[str, object]:
    """The same where a timeout is in milliseconds."""
    return {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT * 1000}]}
