"""Which files have hooks of which agent: in a project, and in a home directory.

`import_hooks` in samuel.toml, or in ~/.samuel/config.toml for the user's own, lists agents and directories of
plugins; a plugin for Claude Code or Codex has its hooks in `hooks/hooks.json`, a package of APM in several files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from samuel.clients.hook_formats.apm import hook_files
from samuel.clients.hook_formats.entry import ImportedFile
from samuel.clients.table import HOOK_FORMATS

PLUGIN_FILE = "hooks/hooks.json"
CODEX_MANIFEST = ".codex-plugin/plugin.json"


def project_files(root: Path, imports: Sequence[str]) -> list[ImportedFile]:
    """The files of a project that `import_hooks` in samuel.toml names, in this order."""
    return [
        imported
        for name in imports
        for imported in (
            [ImportedFile(name, file, root) for file in HOOK_FORMATS[name].project_files]
            if name in HOOK_FORMATS
            else _of_plugin(name, root)
        )
    ]


def user_files(home: Path, imports: Sequence[str]) -> list[ImportedFile]:
    """The files of the user that `import_hooks` in ~/.samuel/config.toml names, in this order."""
    return [
        imported._replace(of_user=True)
        for name in imports
        for imported in (
            [ImportedFile(name, HOOK_FORMATS[name].user_file, home)]
            if name in HOOK_FORMATS
            else _of_plugin(name, home)
        )
    ]


def present(root: Path) -> list[str]:
    """The agents that have a file for hooks in the project."""
    return [
        client
        for client, hook_format in HOOK_FORMATS.items()
        if any((root / file).is_file() for file in hook_format.project_files)
    ]


def _of_plugin(name: str, base: Path) -> list[ImportedFile]:
    directory = os.path.normpath(base / name.removeprefix("~/"))
    if files := [os.path.relpath(os.path.join(directory, file), base) for file in hook_files(Path(directory))]:
        return [ImportedFile("claude", file, base, directory, of_apm=True) for file in files]
    client = "codex" if os.path.isfile(os.path.join(directory, CODEX_MANIFEST)) else "claude"
    file = os.path.relpath(os.path.join(directory, PLUGIN_FILE), base)
    return [ImportedFile(client, file, base, directory)]
