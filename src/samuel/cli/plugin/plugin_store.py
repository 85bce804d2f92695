"""The plugin store as commands open it: not inside a run, nor while samuel.toml is wrong."""

from __future__ import annotations

from samuel import config
from samuel.base import paths
from samuel.cli.command_context import CommandContext
from samuel.cli.plugin.selection import named
from samuel.plugins.fetch import SILENT, FetchProgress
from samuel.plugins.installed import GLOBAL, LOCAL, InstalledPlugin
from samuel.plugins.store import Store, set_enabled
from samuel.process.inside_a_run import refuse_inside_a_run


def store_of(here: CommandContext, of_user: bool, watch: FetchProgress = SILENT) -> Store:
    return Store(here.root, paths.User.from_environment(), GLOBAL if of_user else LOCAL, watch)


def store_to_change(here: CommandContext, of_user: bool, watch: FetchProgress = SILENT) -> Store:
    """The plugin store, for a command that changes it: not inside a run, nor while samuel.toml is wrong."""
    refuse_inside_a_run()
    config.load(here.root / paths.CONFIG)
    return store_of(here, of_user, watch)


def switch(here: CommandContext, name: str, *, enabled: bool) -> InstalledPlugin:
    """Turn a plugin on or off in samuel.toml: the project's, or the user's own."""
    refuse_inside_a_run()
    plugin, _ = named(here.root, name)
    set_enabled(here.root, plugin, enabled)
    return plugin
