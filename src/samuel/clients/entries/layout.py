"""The hooks of one client: in which files they are, how it runs them, and what it asks before it trusts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.entries.hook_trust import TrustFacts

Environment = Mapping[str, str]
Denial = Callable[[str, str], dict[str, object]]
"""The client's event and a reason -> a denial for stdout; {}: exit code 2 and the reason on stderr are enough."""


class BrokenFile(Exception):
    """The text cannot be edited: it is not what the client reads. With the line, or 0."""

    def __init__(self, what: str, line: int = 0, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.hint = hint


class EntryFormat(Protocol):
    """How one kind of file holds Samuel's entries. All texts are without a byte order mark."""

    @property
    def executable(self) -> bool:
        """Whether the client runs the file itself."""

    @property
    def byte_order_mark(self) -> bool:
        """Whether the client reads a file that starts with one; others ignore the file, and say nothing."""

    def added(self, text: str | None, command: EmitCommand) -> str:
        """The text with Samuel's entries, each once; None is a file that is not there. Or BrokenFile."""

    def removed(self, text: str) -> str | None:
        """The text without Samuel's entries; None if the file came with them. Or BrokenFile."""

    def events(self, text: str) -> Sequence[str]:
        """The client's events for which the text has an entry of Samuel's. Or BrokenFile."""


class EntryFile(NamedTuple):
    """A path below the project's root or the client's home, and its format."""

    path: str
    format: EntryFormat


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


class RivalHandler(NamedTuple):
    """Code inside of a client that can answer for its hooks, so that these are not asked."""

    name: str
    """As the client calls it."""
    file: Path
    reaches: tuple[str, ...]
    """The client's own events through which it can do so; () if it cannot."""


class ManagedFile(NamedTuple):
    """The file in which an administrator gives a client hooks that its users cannot switch off."""

    paths: Mapping[str, str]
    """By `sys.platform`."""
    content: Callable[[EmitCommand], dict[str, object]]
    """What Samuel needs in it."""


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
    managed: ManagedFile | None = None
    """The file of an administrator; None if the client has none that Samuel knows."""
    rivals: Callable[[Path, Path], Sequence[RivalHandler]] = lambda home, root: ()
    """The client's home and a project -> what can answer for its hooks there."""

    def home_of(self, environment: Environment) -> Path:
        """The client's own directory, for the user that this environment belongs to."""
        return self.home(environment, Path(environment.get("HOME") or "/"))


def home_directory(default: str, variable: str = "", below: str = "") -> Callable[[Environment, Path], Path]:
    """The directory `default` of the user's home, or what this variable names."""

    def home(environment: Environment, user_home: Path) -> Path:
        value = environment.get(variable)
        return Path(value) / below if value else user_home / default

    return home
