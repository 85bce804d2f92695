"""The lines of samuel.toml that still name a plugin that was disabled or removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.config.model import EventSettings
from samuel.plugins.installed import InstalledPlugin


def mentions(root: Path, plugin: InstalledPlugin) -> list[str]:
    """A warning for each line that names the plugin in `order` or `handlers`."""
    settings = config.load(root / paths.CONFIG)
    places = [settings.hooks, *(methodology.hooks for methodology in settings.methodology.values())]
    lines = [
        (line, what)
        for hooks in places
        for event, settings_of_event in hooks.items()
        for line, what in _of(event, settings_of_event, plugin)
    ]
    return [f"{paths.CONFIG}:{line}: {what}; remove it from that line" for line, what in sorted(lines)]


def tables(root: Path, plugin: InstalledPlugin) -> list[str]:
    """A warning for each table with settings of the plugin, which has no use after it was removed."""
    plugin_tables = config.load(root / paths.CONFIG).plugins.items()
    return [
        f"{paths.CONFIG}:{settings.line}: `[plugins.{name}]` is still there; remove the table"
        for name, settings in plugin_tables
        if name in (plugin.name, plugin.title)
    ]


def _of(event: str, settings: EventSettings, plugin: InstalledPlugin) -> Iterator[tuple[int, str]]:
    for ref in settings.handlers or ():
        if _is_about(ref.use, plugin):
            yield ref.line, f"`handlers` of `{event}` still names `{ref.use}`"
    for key in settings.order:
        if _is_about(key, plugin):
            yield settings.order_lines.get(key, 0), f"`order` of `{event}` still names `{key}`"


def _is_about(name: str, plugin: InstalledPlugin) -> bool:
    names = {plugin.name, plugin.title}
    return name in names or name.startswith(tuple(f"{own_name}{mark}" for own_name in names for mark in "/:"))
