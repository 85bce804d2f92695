"""opencode: a plugin that settings in a variable name."""

from __future__ import annotations

from samuel.clients.entries.settings_file import settings_in
from samuel.clients.opencode.plugin import plugin_text
from samuel.clients.run_bridge.bridge_plan import BridgeFile, BridgePlan, BridgeRequest
from samuel.files.json import write

VARIABLE = "OPENCODE_CONFIG_CONTENT"


def bridge(request: BridgeRequest) -> BridgePlan:
    text = plugin_text(request.command, request.events, asks_project_server=False)
    plugin = BridgeFile(request.directory / "samuel.js", text.encode())
    settings = settings_in(request.host.get(VARIABLE) or "{}")
    others = settings.get("plugin")
    plugins = [*(others if isinstance(others, list) else ()), plugin.path.as_uri()]
    content = write({**settings, "plugin": plugins}).decode()
    return BridgePlan(env={VARIABLE: content}, files=(plugin,))
