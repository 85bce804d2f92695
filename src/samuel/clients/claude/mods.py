"""Mods of Claude Code: plugins whose functions run inside of it and can answer before the hooks of its settings.

A mod that answers `classic.PreToolUse` without passing the event on keeps every hook of the settings from being
asked (seen with 2.1.326). A mod is a plugin whose hooks name `modules`. Claude Code finds plugins below its
directories of skills, and where they were installed from a marketplace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samuel.clients.entries.layout import RivalHandler
from samuel.clients.entries.settings_file import read_settings, table_in
from samuel.files.regular import read_regular

INSTALLED = "plugins/installed_plugins.json"
HOOKS = "hooks/hooks.json"
UNKNOWN = "an unknown event"
MOST_BYTES = 1 << 20
# The events through which a mod can decide about a tool call or answer for the hooks of the settings.
_REACHES = re.compile(r"(?:\*|tool\.(?:\*|call|check)|classic\..+|session\.(?:\*|append))")
_REGISTERED = re.compile(r"""\bon\(\s*(?:"([^"]*)"|'([^']*)'|`([^`$]*)`|([^"'`\s]))""")


def mods(home: Path, root: Path) -> list[RivalHandler]:
    """The mods that Claude Code may load in the project `root`; `home` is its own directory."""
    return [
        RivalHandler(name, modules[0], _reached(modules))
        for name, plugin in (*_in_skills(home), *_in_skills(root / ".claude"), *_installed(home))
        if (modules := _modules(plugin))
    ]


def _in_skills(directory: Path) -> Iterator[tuple[str, Path]]:
    """The plugins in a directory of skills, each with the name that Claude Code gives it."""
    try:
        plugins = sorted(path for path in (directory / "skills").iterdir() if path.is_dir())
    except OSError:
        return
    for plugin in plugins:
        name = _manifest(plugin).get("name")
        yield f"{name if isinstance(name, str) else plugin.name}@skills-dir", plugin


def _installed(home: Path) -> Iterator[tuple[str, Path]]:
    for name, places in table_in(read_settings(home / INSTALLED), "plugins").items():
        for place in places if isinstance(places, list) else [places]:
            path = place.get("installPath") if isinstance(place, Mapping) else None
            if isinstance(path, str):
                yield name, Path(path)


def _modules(plugin: Path) -> list[Path]:
    """The files of a plugin that run inside of Claude Code."""
    declared = _manifest(plugin).get("hooks")
    sources = [HOOKS, *(declared if isinstance(declared, list) else [declared])]
    return [module for source in sources for module in _modules_of(plugin, source)]


def _modules_of(plugin: Path, source: Any) -> Iterator[Path]:
    if isinstance(source, str):
        file = plugin / source
        directory, hooks = file.parent, read_settings(file)
    elif isinstance(source, Mapping):
        directory, hooks = plugin, dict(source)
    else:
        return
    modules = hooks.get("modules")
    for module in modules if isinstance(modules, list) else ():
        if isinstance(module, str):
            beside = directory / module
            yield beside if beside.exists() else plugin / module


def _reached(modules: list[Path]) -> tuple[str, ...]:
    events = {event for module in modules for event in _events(module)}
    return tuple(sorted(event for event in events if event == UNKNOWN or _REACHES.fullmatch(event)))


def _events(module: Path) -> Iterator[str]:
    """The events that a module registers for; UNKNOWN if they cannot be read from its text."""
    try:
        text = read_regular(module, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        text = ""
    calls = _REGISTERED.findall(text)
    for *names, expression in calls:
        yield UNKNOWN if expression else next(filter(None, names), UNKNOWN)
    if not calls:
        yield UNKNOWN


def _manifest(plugin: Path) -> dict[str, Any]:
    return read_settings(plugin / ".claude-plugin" / "plugin.json")
