"""The hooks of one process of a client, for an agent of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from samuel.bridges.launcher import launcher_script
from samuel.bridges.run_server import ServerAddress
from samuel.clients.dialect.client import POST, PRE
from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.run_bridge.process_bridge import BridgeRequest, ProcessBridge
from samuel.clients.table import CLIENTS, RUN_BRIDGES
from samuel.process.emit_client import NATIVE_CLIENT


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
    launcher = directory / NATIVE_CLIENT
    command = EmitCommand((str(launcher),) if server is None else server.words(launcher), of_run=True)
    native_events = [native for native, event in CLIENTS[client].events.items() if event in events]
    request = BridgeRequest(client, root, directory, home, command, host, native_events)
    request.put(launcher, launcher_script(root, variables), 0o700)
    bridge = RUN_BRIDGES[client](request)
    return bridge._replace(files=request.files)
