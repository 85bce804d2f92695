"""What one process of a client needs so that its tool calls are put to Samuel, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.clients.entries.hook_command import EmitCommand, hook_command


class BridgeFile(NamedTuple):
    """A file that must not change while the process runs."""

    path: Path
    data: bytes
    mode: int = 0o600


class HomeOverlay(NamedTuple):
    """A home directory for one process: the client's own one by links, but for what has the hooks."""

    own: Path
    path: Path
    replaced: tuple[str, ...]
    """Names in the client's own directory that are no links here."""
    files: Mapping[str, bytes] = MappingProxyType({})
    """Files in their place. The client writes to them itself, so what they are in the end proves nothing."""
    links: tuple[str, ...] = ()
    """Paths below a replaced directory that are links to the user's."""
    directories: tuple[str, ...] = ()
    """What can be read of it in a sandbox beside its files; what is written there is lost."""


class BridgePlan(NamedTuple):
    """What is added to the command line and the environment of one process, and what is written for it."""

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    files: tuple[BridgeFile, ...] = ()
    home: HomeOverlay | None = None


@dataclass(frozen=True)
class BridgeRequest:
    """For which process a bridge is made."""

    client: str
    root: Path
    """The project it works in."""
    directory: Path
    """Where its files are written: not writable in a sandbox."""
    home: Path
    """A directory for a client that takes its hooks only from a home directory, where it writes, too."""
    command: EmitCommand
    host: Mapping[str, str]
    """The user's environment, which names the client's own directories and settings."""
    events: Sequence[str]
    """The client's events with a hook, all of what happens inside the agent: the loop fires the others itself."""

    def line(self, event: str) -> str:
        """The command line of the hook for one of the client's events."""
        return hook_command(self.command, self.client, event)

    def hooks(self, entry: Callable[[str, str], dict[str, object]]) -> dict[str, list[object]]:
        """An entry for the calls of all tools, by event, for a client of Claude's family."""
        return {event: [{"matcher": "*", **entry(event, self.line(event))}] for event in self.events}
