"""The hooks of Qwen Code are in its settings, which may have comments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samuel.clients.entries.bridge_plan import BridgeFile, BridgePlan, BridgeRequest
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion, folder_is_trusted
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry_ms
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, OffSwitch, home_directory
from samuel.clients.entries.settings_file import read_settings, table_in
from samuel.files.json import write

VARIABLE = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
_SYSTEM = "/etc/qwen-code/settings.json"
HOOKS = JsonHooks("qwen", grouped_entry_ms, comments=True)


def is_trusted(question: TrustQuestion) -> bool:
    return folder_is_trusted(question, enabled_by_default=False)


LAYOUT = ClientLayout(
    program="qwen",
    project=(EntryFile(".qwen/settings.json", HOOKS),),
    user=(EntryFile("settings.json", HOOKS),),
    home=home_directory(".qwen", "QWEN_HOME"),
    command=CommandFacts(project_variable="QWEN_PROJECT_DIR", exit_code_denies=True),
    trust=TrustFacts(
        {"project": "if you enabled `security.folderTrust`: start `qwen` in this directory and trust the folder"},
        is_trusted,
    ),
    off_switch=OffSwitch(("disableAllHooks",), True),
)


def system_settings(host: Mapping[str, str]) -> dict[str, Any]:
    """The settings of the whole system, from the file that the user's environment names."""
    return read_settings(Path(host.get(VARIABLE) or _SYSTEM))


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks from the file of system settings, which a variable names; those of its administrator stay."""
    settings = {**system_settings(request.host), "disableAllHooks": False}
    hooks = dict(table_in(settings, "hooks"))
    for event, entries in request.hooks(grouped_entry_ms).items():
        there = hooks.get(event)
        hooks[event] = [*(there if isinstance(there, list) else ()), *entries]
    file = BridgeFile(request.directory / "qwen.json", write({**settings, "hooks": hooks}))
    return BridgePlan(env={VARIABLE: str(file.path)}, files=(file,))
