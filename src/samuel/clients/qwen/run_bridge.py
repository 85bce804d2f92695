"""Qwen Code: hooks from the file of system settings, which a variable names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.settings_file import read_settings
from samuel.clients.run_bridge.bridge_plan import BridgeFile, BridgePlan, BridgeRequest, for_every_tool
from samuel.files.json import write

VARIABLE = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
_SYSTEM = "/etc/qwen-code/settings.json"


def system_settings(host: Mapping[str, str]) -> dict[str, Any]:
    """The settings of the whole system, from the file that the user's environment names."""
    return read_settings(Path(host.get(VARIABLE) or _SYSTEM))


def bridge(request: BridgeRequest) -> BridgePlan:
    hooks = {event: [for_every_tool(request.line(event), TIMEOUT * 1000)] for event in request.events}
    settings = {**system_settings(request.host), "disableAllHooks": False}
    own = settings.get("hooks")
    merged = {**(own if isinstance(own, dict) else {}), **hooks}
    file = BridgeFile(request.directory / "qwen.json", write({**settings, "hooks": merged}))
    return BridgePlan(env={VARIABLE: str(file.path)}, files=(file,))
