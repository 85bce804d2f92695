"""The hooks of Gemini CLI are in its settings, which may have comments.

It reads JSON on stdout whatever the exit code, and JSON without a decision is an allow.
"""

from __future__ import annotations

from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion, folder_is_trusted
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import ClientLayout, CommandFacts, OffSwitch, grouped_entry_ms, home_directory

HOOKS = JsonHooks("gemini", grouped_entry_ms, comments=True)
TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"


def is_trusted(question: TrustQuestion) -> bool:
    if question.environment.get(TRUST_VARIABLE) == "true":
        return True
    return folder_is_trusted(question, enabled_by_default=True)


LAYOUT = ClientLayout(
    program="gemini",
    project=(EntryFile(".gemini/settings.json", HOOKS),),
    user=(EntryFile("settings.json", HOOKS),),
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
