"""The hooks of Qwen Code are in its settings, which may have comments."""

from __future__ import annotations

from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion, folder_is_trusted
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import ClientLayout, CommandFacts, OffSwitch, grouped_entry_ms, home_directory

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
