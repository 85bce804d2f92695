"""The plugins of a project and its user, as commands find and change them, and where samuel.toml names one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.command_context import CommandContext
from samuel.config.model import EventSettings
from samuel.plugins.fetch import SILENT, FetchProgress
from samuel.plugins.installed import GLOBAL, LOCAL, InstalledPlugin
from samuel.plugins.requirements import answers
from samuel.plugins.store import Store
from samuel.process.inside_a_run import refuse_inside_a_run


def store_to_change(here: CommandContext, of_user: bool, watch: FetchProgress = SILENT) -> Store:
    """The plugin store, for a command that changes it: not inside a run, nor while samuel.toml is wrong."""
    refuse_inside_a_run()
    config.load(here.root / paths.CONFIG)
    return Store(here.root, paths.User.from_environment(), GLOBAL if of_user else LOCAL, watch)


def all_plugins(root: Path) -> list[tuple[InstalledPlugin, bool]]:
    """The project's and the user's plugins, sorted by name, and whether each is enabled in this project."""
    user = paths.User.from_environment()
    plugins = Store(root, user, LOCAL).all_plugins()
    if user.home.resolve() != root:  # a project that is the home directory has no second set of them
        plugins += Store(root, user, GLOBAL).all_plugins()
    settings_by_name = config.load(root / paths.CONFIG).plugins
    settings = [settings_by_name.get(plugin.name) or settings_by_name.get(plugin.title) for plugin in plugins]
    both = [(plugin, own is None or own.enabled) for plugin, own in zip(plugins, settings, strict=True)]
    return sorted(both, key=lambda pair: pair[0].title)  # stable: the project's before the user's


def named(root: Path, name: str, location: str = "") -> tuple[InstalledPlugin, bool]:
    """The plugin of this name: the project's first, and the name that `list` shows before that of the manifest."""
    plugins = all_plugins(root)
    listed = [pair for pair in plugins if name in (pair[0].title, pair[0].directory.name)]
    meant = listed or [pair for pair in plugins if answers(pair[0], name)]
    if here := [pair for pair in meant if location in ("", pair[0].location)]:
        return here[0]
    if meant:
        other = meant[0][0]
        hint = "add `--global`" if other.location == GLOBAL else "leave out `--global`"
        raise UsageError(f"`{name}` is a {other.location} plugin", hint)
    names = (name for plugin, _ in plugins for name in (plugin.title, plugin.name))
    raise UsageError(
        f"no plugin is called `{name}`", did_you_mean(name, names, "`samuel plugin list` lists the installed ones")
    )


def mentions(root: Path, plugin: InstalledPlugin) -> list[str]:
    """A warning for each line that names the plugin in `order` or `handlers`."""
    settings = config.load(root / paths.CONFIG)
    places = [settings.hooks, *(methodology.hooks for methodology in settings.methodology.values())]
    lines = [
        (line, what)
        for hooks in places
        for event, settings_of_event in hooks.items()
        for line, what in _lines_naming(event, settings_of_event, plugin)
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


def _lines_naming(event: str, settings: EventSettings, plugin: InstalledPlugin) -> Iterator[tuple[int, str]]:
    for ref in settings.handlers or ():
        if _is_about(ref.use, plugin):
            yield ref.line, f"`handlers` of `{event}` still names `{ref.use}`"
    for key in settings.order:
        if _is_about(key, plugin):
            yield settings.order_lines.get(key, 0), f"`order` of `{event}` still names `{key}`"


def _is_about(name: str, plugin: InstalledPlugin) -> bool:
    names = {plugin.name, plugin.title}
    return name in names or name.startswith(tuple(f"{own_name}{mark}" for own_name in names for mark in "/:"))
