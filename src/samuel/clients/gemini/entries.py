"""The hooks of Gemini CLI are in its settings, which may have comments.

It reads JSON on stdout whatever the exit code, and JSON without a decision is an allow.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samuel.base.errors import SamuelError
from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest, HomeOverlay
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion, folder_is_trusted
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry_ms
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, OffSwitch, home_directory
from samuel.clients.entries.settings_file import list_in, read_settings, table_in

HOOKS = JsonHooks("gemini", grouped_entry_ms, comments=True)
SETTINGS = "settings.json"
TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"


def is_trusted(question: TrustQuestion) -> bool:
    if question.environment.get(TRUST_VARIABLE) == "true":
        return True
    return folder_is_trusted(question, enabled_by_default=True)


LAYOUT = ClientLayout(
    program="gemini",
    project=(EntryFile(f".gemini/{SETTINGS}", HOOKS),),
    user=(EntryFile(SETTINGS, HOOKS),),
    home=home_directory(".gemini", "GEMINI_CLI_HOME", below=".gemini"),
    command=CommandFacts(project_variable="GEMINI_PROJECT_DIR"),
    trust=TrustFacts(
        {
            "project": "start `gemini` in this directory and trust the folder, or set "
            f"`{TRUST_VARIABLE}=true` where no person can answer; `--skip-trust` is not enough"
        },
        is_trusted,
    ),
    off_switch=OffSwitch(("hooksConfig", "enabled"), False),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks from a home directory for the process.

    It reads the file that GEMINI_CLI_SYSTEM_SETTINGS_PATH names only if root owns it and every directory above it.
    """
    _refuse_switches(request.root)
    own = LAYOUT.home_of(request.host)
    settings = json.dumps(_settings(request, own / SETTINGS), indent=2)
    home = HomeOverlay(own, request.home / ".gemini", (SETTINGS,), {SETTINGS: settings.encode()})
    return BridgePlan(env={"GEMINI_CLI_HOME": str(request.home)}, home=home)


def _refuse_switches(root: Path) -> None:
    """Raise SamuelError if the project's settings, which rank above a user's, switch hooks off."""
    switches = table_in(read_settings(root / ".gemini" / SETTINGS), "hooksConfig")
    if switches.get("enabled") is False or switches.get("disabled"):
        raise SamuelError(
            f"`.gemini/{SETTINGS}` switches hooks off, so no guard would hold for gemini",
            "remove `hooksConfig` from it",
        )


def _settings(request: BridgeRequest, file: Path) -> dict[str, Any]:
    settings = read_settings(file)
    others = table_in(settings, "hooks")
    hooks = {event: [*list_in(others, event), *own] for event, own in request.hooks(grouped_entry_ms).items()}
    switches = {**table_in(settings, "hooksConfig"), "enabled": True, "disabled": []}
    return {**settings, "hooks": {**others, **hooks}, "hooksConfig": switches}
