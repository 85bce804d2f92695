"""Gemini CLI: hooks from a home directory of its own.

It reads the file that GEMINI_CLI_SYSTEM_SETTINGS_PATH names only if root owns it and every directory above it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samuel.base.errors import SamuelError
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.settings_file import read_settings
from samuel.clients.run_bridge.bridge_plan import BridgePlan, BridgeRequest, HomeOverlay, for_every_tool
from samuel.clients.table import LAYOUTS

SETTINGS = "settings.json"


def bridge(request: BridgeRequest) -> BridgePlan:
    _refuse_switches(request.root)
    own = LAYOUTS["gemini"].home_of(request.host)
    settings = json.dumps(_settings(request, own / SETTINGS), indent=2)
    home = HomeOverlay(own, request.home / ".gemini", (SETTINGS,), {SETTINGS: settings.encode()})
    return BridgePlan(env={"GEMINI_CLI_HOME": str(request.home)}, home=home)


def _refuse_switches(root: Path) -> None:
    """Raise SamuelError if the project's settings, which rank above a user's, switch hooks off."""
    switches = read_settings(root / ".gemini" / SETTINGS).get("hooksConfig")
    if isinstance(switches, dict) and (switches.get("enabled") is False or switches.get("disabled")):
        raise SamuelError(
            f"`.gemini/{SETTINGS}` switches hooks off, so no guard would hold for gemini",
            "remove `hooksConfig` from it",
        )


def _settings(request: BridgeRequest, own: Path) -> dict[str, Any]:
    settings = read_settings(own)
    hooks = settings.get("hooks")
    hooks = dict(hooks) if isinstance(hooks, dict) else {}
    for event in request.events:
        others = hooks.get(event)
        entry = for_every_tool(request.line(event), TIMEOUT * 1000)
        hooks[event] = [*(others if isinstance(others, list) else ()), entry]
    switches = settings.get("hooksConfig")
    switches = dict(switches) if isinstance(switches, dict) else {}
    return {**settings, "hooks": hooks, "hooksConfig": {**switches, "enabled": True, "disabled": []}}
