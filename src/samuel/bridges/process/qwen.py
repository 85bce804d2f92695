"""Qwen Code: hooks from the file of system settings, which a variable names."""

from __future__ import annotations

from pathlib import Path

from samuel.bridges.entries.hook_command import TIMEOUT
from samuel.bridges.process.own_settings import own_settings
from samuel.bridges.process.process_bridge import BridgeRequest, ProcessBridge, for_every_tool
from samuel.files.json import write

VARIABLE = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
_SYSTEM = "/etc/qwen-code/settings.json"


def bridge(request: BridgeRequest) -> ProcessBridge:
    hooks = {event: [for_every_tool(request.line(event), TIMEOUT * 1000)] for event in request.events}
    settings = {**own_settings(Path(request.host.get(VARIABLE) or _SYSTEM)), "disableAllHooks": False}
    own = settings.get("hooks")
    merged = {**(own if isinstance(own, dict) else {}), **hooks}
    file = request.put(request.directory / "qwen.json", write({**settings, "hooks": merged}))
    return ProcessBridge(env={VARIABLE: str(file)})
