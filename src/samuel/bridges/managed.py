"""The hooks that an administrator installs for all users of a machine: the file, and whether it is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import UsageError
from samuel.clients.entries.hook_command import event_of, installed_command
from samuel.clients.entries.settings_file import list_in, read_settings, table_in
from samuel.clients.table import CLIENTS, LAYOUTS


class ManagedHooks(NamedTuple):
    """A file for an administrator to install; nothing is written here."""

    client: str
    file: Path
    text: str


def managed_hooks(client: str, system: Path) -> ManagedHooks:
    """What an administrator installs for this client; UsageError if it reads no such file. `system` is `/`."""
    managed, file = LAYOUTS[client].managed, managed_file(client, system)
    if managed is None or file is None:
        names = ", ".join(f"`{name}`" for name, layout in LAYOUTS.items() if layout.managed)
        raise UsageError(f"there is no file of an administrator for `{client}` here", f"{names} have one")
    command = installed_command()._replace(of_administrator=True)
    return ManagedHooks(client, file, json.dumps(managed.content(command), indent=2) + "\n")


def managed_file(client: str, system: Path) -> Path | None:
    """Where the administrator's file of a client is; None for a client without one."""
    managed = LAYOUTS[client].managed
    path = managed.paths.get(sys.platform) if managed else None
    return system / path.lstrip("/") if path else None


def is_managed(client: str, system: Path) -> bool:
    """Whether the file of an administrator has Samuel's hooks for all events of this client."""
    file = managed_file(client, system)
    if file is None:
        return False
    hooks = table_in(read_settings(file), "hooks")
    return all(
        any(event_of(command, client) == event for command in _commands(list_in(hooks, event)))
        for event in CLIENTS[client].registered_events
    )


def _commands(entries: list[object]) -> list[object]:
    """The command lines of entries, those of groups included."""
    commands: list[object] = []
    for entry in entries:
        if isinstance(entry, dict):
            commands += [entry.get("command"), entry.get("bash"), *_commands(list_in(entry, "hooks"))]
    return commands
