"""What one process of a client needs so that its tool calls are put to Samuel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.clients.entries.hook_command import EmitCommand, hook_command, hook_script
from samuel.clients.entries.settings_file import settings_in
from samuel.confine.sandbox import Private
from samuel.files import atomic

_NOTHING: Mapping[str, str] = MappingProxyType({})


class ProcessBridge(NamedTuple):
    """What is added to the command line, the environment and the sandbox of one process."""

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = _NOTHING
    homes: tuple[Private, ...] = ()
    """Directories that the client writes to; in a sandbox each is a fresh one."""
    files: Mapping[Path, bytes] = MappingProxyType({})
    """What was written for it, and must be unchanged when it has ended."""

    def changed_files(self) -> list[str]:
        """The names of the files that are not what was written."""
        return sorted(path.name for path, data in self.files.items() if not _is_kept(path, data))


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
    """The client's events with a hook, all before or after a tool call: the loop fires the others itself."""
    files: dict[Path, bytes] = field(default_factory=dict)
    """What was written so far."""

    def line(self, event: str) -> str:
        """The command line of the hook for one of the client's events."""
        return hook_command(self.command, self.client, event)

    def script(self, event: str) -> str:
        """The same for a client whose hooks are shell scripts."""
        return hook_script(self.command, self.client, event)

    def put(self, path: Path, data: bytes, mode: int = 0o600) -> Path:
        """Write a file that nobody may change while the process runs."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(path, data, mode, durable=False)
        self.files[path] = data
        return path


def for_every_tool(command: str, timeout: int) -> dict[str, object]:
    """An entry of a client of Claude's family: this command for the calls of all tools."""
    return {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def _is_kept(path: Path, data: bytes) -> bool:
    try:
        now = path.read_bytes()
    except OSError:
        return False
    if now == data or path.suffix != ".json":
        return now == data
    # A client may add keys of its own to its settings, such as the version of their form.
    before, after = settings_in(data.decode()), settings_in(now.decode("utf-8", "replace"))
    return all(after.get(key) == value for key, value in before.items())
