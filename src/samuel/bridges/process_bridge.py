"""The hooks of one process of a client, for an agent of a run: no file of the user's is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.bridges.launcher import launcher_script
from samuel.bridges.overlay import make_home
from samuel.bridges.run_server import ServerAddress
from samuel.clients.dialect.events import POST, PRE
from samuel.clients.entries.bridge_plan import BridgeFile, BridgeRequest
from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.entries.settings_file import settings_in
from samuel.clients.table import CLIENTS, RUN_BRIDGES
from samuel.confine.sandbox import Private
from samuel.files import atomic
from samuel.process.emit_client import NATIVE_CLIENT


class ProcessBridge(NamedTuple):
    """What is added to the command line, the environment and the sandbox of one process."""

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    homes: tuple[Private, ...] = ()
    """Directories that the client writes to; in a sandbox each is a fresh one."""
    files: Mapping[Path, bytes] = MappingProxyType({})
    """What was written for it, and must be unchanged when it has ended."""

    def changed_files(self) -> list[str]:
        """The names of the files that are not what was written."""
        return sorted(path.name for path, data in self.files.items() if not _is_kept(path, data))


def process_bridge(
    client: str,
    root: Path,
    directory: Path,
    home: Path,
    variables: Mapping[str, str],
    host: Mapping[str, str],
    server: ServerAddress | None = None,
    events: Sequence[str] = (PRE, POST),
) -> ProcessBridge:
    """The bridge of one process of a client that works in `root`.

    `directory` is for files that the process must not change, `home` for a client that needs a home directory of
    its own. `variables` are those of the Samuel that its hooks start; `host` is the user's environment. `server`
    answers in place of that Samuel. `events` are those of Samuel's that the hooks are for.
    """
    launcher = BridgeFile(directory / NATIVE_CLIENT, launcher_script(root, variables), 0o700)
    command = EmitCommand((str(launcher.path),) if server is None else server.words(launcher.path), of_run=True)
    native_events = [native for native, event in CLIENTS[client].events.items() if event in events]
    plan = RUN_BRIDGES[client](BridgeRequest(client, root, directory, home, command, host, native_events))
    homes = (make_home(plan.home),) if plan.home else ()
    return ProcessBridge(plan.arguments, plan.env, homes, _write((launcher, *plan.files)))


def _write(files: Sequence[BridgeFile]) -> dict[Path, bytes]:
    """Write the files; what is in each of them."""
    for file in files:
        file.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file.path, file.data, file.mode, durable=False)
    return {file.path: file.data for file in files}


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
