"""How each client gets hooks for one process. A client that is not here gets none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from samuel.bridges.launcher import launcher_script
from samuel.bridges.run_server import ServerAddress
from samuel.clients.claude import run_bridge as claude
from samuel.clients.cline import run_bridge as cline
from samuel.clients.codex import run_bridge as codex
from samuel.clients.copilot import run_bridge as copilot
from samuel.clients.dialect.client import POST, PRE
from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.gemini import run_bridge as gemini
from samuel.clients.kimi import run_bridge as kimi
from samuel.clients.opencode import run_bridge as opencode
from samuel.clients.qwen import run_bridge as qwen
from samuel.clients.run_bridge.process_bridge import BridgeRequest, ProcessBridge
from samuel.clients.table import CLIENTS
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
