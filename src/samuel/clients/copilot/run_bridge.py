"""Copilot CLI: hooks of a plugin that is loaded from a directory for one session, without trust in a folder."""

from __future__ import annotations

from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.run_bridge.bridge_plan import BridgeFile, BridgePlan, BridgeRequest
from samuel.files.json import write
from samuel.version import __version__


def bridge(request: BridgeRequest) -> BridgePlan:
    plugin = request.directory / "plugin"
    manifest = {"name": "samuel", "version": __version__, "description": "Samuel's hooks", "hooks": "hooks.json"}
    hooks = {
        event: [{"type": "command", "bash": request.line(event), "timeoutSec": TIMEOUT}]
        for event in request.events
    }
    files = (
        BridgeFile(plugin / "plugin.json", write(manifest)),
        BridgeFile(plugin / "hooks.json", write({"version": 1, "hooks": hooks})),
    )
    return BridgePlan((f"--plugin-dir={plugin}",), files=files)
