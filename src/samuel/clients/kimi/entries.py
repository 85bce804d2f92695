"""The hooks of Kimi Code are in its settings, a TOML file. It reads none from a project."""

from __future__ import annotations

from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.layout import ClientLayout, CommandFacts, home_directory
from samuel.clients.entries.toml_hooks import TomlHooks

LAYOUT = ClientLayout(
    program="kimi",
    project=(),
    user=(EntryFile("config.toml", TomlHooks("kimi")),),
    home=home_directory(".kimi-code", "KIMI_CODE_HOME"),
    command=CommandFacts(exit_code_denies=True),
)
