"""How each client gets hooks for one process. A client that is not here gets none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from samuel.bridges.entries.hook_command import EmitCommand
from samuel.bridges.process import claude, cline, codex, copilot, gemini, kimi, opencode, qwen
from samuel.bridges.process.launcher import launcher_script
from samuel.bridges.process.process_bridge import BridgeRequest, ProcessBridge
from samuel.bridges.process.run_server import ServerAddress
from samuel.dialects.clients.client import POST, PRE
from samuel.dialects.clients.table import CLIENTS
from samuel.process.emit_client import NATIVE_CLIENT

PROCESS_BRIDGES: Mapping[str, Callable[[BridgeRequest], ProcessBridge]] = {
    "claude": claude.bridge,
    "codex": codex.bridge,
    "gemini": gemini.bridge,
    "qwen": qwen.bridge,
    "copilot": copilot.bridge,
    "opencode": opencode.bridge,
    "kimi": kimi.bridge,
    "cline": cline.bridge,
}


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
    bridge = PROCESS_BRIDGES[client](request)
    return bridge._replace(files=request.files)
