"""Which files have hooks of which agent: in a project, and in a home directory.

`import_hooks` in samuel.toml, or in ~/.samuel/config.toml for the user's own, lists agents and directories of
plugins; a plugin for Claude Code or Codex has its hooks in `hooks/hooks.json`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PLUGIN_FILE = "hooks/hooks.json"
CODEX_MANIFEST = ".codex-plugin/plugin.json"


class HookPlace(NamedTuple):
    """A file that may have hooks of an agent."""

    client: str
    file: str  # relative to `base`, or absolute
    base: Path  # the project, or the home directory
    plugin: str = ""  # the directory of the plugin that it belongs to

    @property
    def path(self) -> Path:
        return self.base / self.file


PROJECT_FILES: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude/settings.json", ".claude/settings.local.json"),
    "codex": (".codex/hooks.json",),
    "cursor": (".cursor/hooks.json",),
}
USER_FILES: Mapping[str, tuple[str, ...]] = {**PROJECT_FILES, "claude": (".claude/settings.json",)}


def project_places(root: Path, imports: Sequence[str]) -> list[HookPlace]:
    """The files of a project that `import_hooks` in samuel.toml names, in this order."""
    return [place for name in imports for place in _places(name, root, PROJECT_FILES)]


def user_places(home: Path, imports: Sequence[str]) -> list[HookPlace]:
    """The files of the user that `import_hooks` in ~/.samuel/config.toml names, in this order."""
    return [place for name in imports for place in _places(name, home, USER_FILES)]


def present(root: Path) -> list[str]:
    """The agents that have a file for hooks in the project."""
    return [client for client, files in PROJECT_FILES.items() if any((root / file).is_file() for file in files)]


def _places(name: str, base: Path, files: Mapping[str, tuple[str, ...]]) -> Iterable[HookPlace]:
    if name in files:
        return [HookPlace(name, file, base) for file in files[name]]
    directory = os.path.normpath(base / name.removeprefix("~/"))
    client = "codex" if os.path.isfile(os.path.join(directory, CODEX_MANIFEST)) else "claude"
    file = os.path.relpath(os.path.join(directory, PLUGIN_FILE), base)
    return [HookPlace(client, file, base, directory)]
