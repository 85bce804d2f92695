"""The hooks of Grok Build are in files of their own."""

from __future__ import annotations

import tomllib
from typing import Any

from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.settings_file import table_in
from samuel.files.regular import read_regular

HOOKS = JsonHooks("grok", grouped_entry)


def is_trusted(question: TrustQuestion) -> bool:
    try:
        folders: dict[str, Any] = tomllib.loads(read_regular(question.home / "trusted_folders.toml").decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    trusted = table_in(folders, "folders")
    return any(table_in(trusted, str(directory)).get("trusted") is True for directory in question.above)


LAYOUT = ClientLayout(
    program="grok",
    project=(EntryFile(".grok/hooks/samuel.json", HOOKS),),
    user=(EntryFile("hooks/samuel.json", HOOKS),),
    home=home_directory(".grok", "GROK_HOME"),
    command=CommandFacts(project_variable="GROK_WORKSPACE_ROOT", exit_code_denies=True),
    trust=TrustFacts(
        {"project": "start `grok` in this directory and type `/hooks-trust`, or give `--trust` once"}, is_trusted
    ),
)
