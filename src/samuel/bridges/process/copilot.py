"""Copilot CLI: hooks of a plugin that is loaded from a directory for one session, without trust in a folder."""

from __future__ import annotations

from samuel.bridges.entries.hook_command import TIMEOUT
from samuel.bridges.process.process_bridge import BridgeRequest, ProcessBridge
from samuel.files.json import write
from samuel.version import __version__


def bridge(request: BridgeRequest) -> ProcessBridge:
    plugin = request.directory / "plugin"
    manifest = {"name": "samuel", "version": __version__, "description": "Samuel's hooks", "hooks": "hooks.json"}
    hooks = {
        event: [{"type": "command", "bash": request.line(event, _denial), "timeoutSec": TIMEOUT}]
        for event in request.events
    }
    request.put(plugin / "plugin.json", write(manifest))
    request.put(plugin / "hooks.json", write({"version": 1, "hooks": hooks}))
    return ProcessBridge((f"--plugin-dir={plugin}",))


def _denial(event: str, reason: str) -> dict[str, object]:
    """An exit code of 2 would deny, too, but the model would not be told why."""
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}
