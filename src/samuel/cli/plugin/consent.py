"""Asking before anything of a plugin can run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from samuel import config
from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext
from samuel.cli.plugin import display
from samuel.cli.plugin.progress import Progress
from samuel.cli.plugin.selection import named
from samuel.cli.plugin.texts import unusable
from samuel.hooks.handler import Handler, HandlerStatus
from samuel.plugins.fetch import SILENT, FetchProgress
from samuel.plugins.installed import GLOBAL, LOCAL, InstalledPlugin
from samuel.plugins.lock import LockedHook
from samuel.plugins.store import Plan, Store, set_enabled
from samuel.process.inside_a_run import refuse_inside_a_run

Decorated = TypeVar("Decorated", bound=Callable[..., object])

global_option = click.option(
    *("-g", "--global", "of_user"), is_flag=True, help="Your own plugins, for all your projects."
)


def asking_options(command: Decorated) -> Decorated:
    """Adds the options of all commands that may have to ask."""
    for option in (
        click.option("--non-interactive", is_flag=True, help="Never ask; fail without --yes."),
        click.option("--yes", is_flag=True, help="Go on without asking."),
        global_option,
    ):
        command = option(command)
    return command


def store_of(here: CommandContext, of_user: bool, watch: FetchProgress = SILENT) -> Store:
    return Store(here.root, paths.User.from_environment(), GLOBAL if of_user else LOCAL, watch)


def store_to_change(here: CommandContext, of_user: bool, watch: FetchProgress = SILENT) -> Store:
    """The plugin store, for a command that changes it: not inside a run, nor while samuel.toml is wrong."""
    refuse_inside_a_run()
    config.load(here.root / paths.CONFIG)
    return store_of(here, of_user, watch)


def agree(here: CommandContext, plan: Plan, progress: Progress, *, yes: bool, non_interactive: bool) -> None:
    """Show what the plan would install and ask for consent; raises SamuelError without it."""
    progress.done()
    candidates = plan.to_agree
    if not candidates:
        return
    if not here.out.json:
        show_offers(here, plan)
    if yes:
        return
    titles = ", ".join(f"`{candidate.title}`" for candidate in candidates)
    if non_interactive or not here.out.asks:
        read = "run it without `--json` and read what it says" if here.out.json else "read the above"
        hint = f"nothing was installed; {read}, then run it with `--yes` or on a terminal"
        raise SamuelError(f"{titles}: installing needs your consent", hint)
    what = "this plugin" if len(candidates) == 1 else f"these {len(candidates)} plugins"
    verb = "Update" if all(candidate.before for candidate in candidates) else "Install"
    if not click.confirm(f"{verb} {what}, and let it run?", err=True):
        raise SamuelError("nothing was installed")


def show_offers(here: CommandContext, plan: Plan) -> None:
    for candidate in plan.to_agree:
        here.out.tell(f"{display.offer(candidate)}\n")


def now() -> str:
    return iso(SystemClock().now())


def broken(here: CommandContext, plugins: Iterable[InstalledPlugin], store: Store | None = None) -> list[str]:
    """Warnings about hooks, skills and recipes of these plugins that will not work.

    The hooks may be asked for their events now; the answers go into the lock file of `store`. A plugin that
    samuel.toml disables is reported too.
    """
    plugins = list(plugins)
    if not plugins:
        return []
    names, reported = {plugin.name for plugin in plugins}, (HandlerStatus.BROKEN, HandlerStatus.DISABLED)
    with here.open() as app:
        own = [handler for handler in app.handlers if handler.owner in names]
    not_working = [handler for handler in own if handler.status in reported]
    if store is not None and store.location == LOCAL:
        store.record_hooks(
            {plugin.title: hooks for plugin in plugins if (hooks := _hooks(plugin, own)) is not None}
        )
    texts = [f"`{plugin.title}`: {problem}" for plugin in plugins for problem in unusable(plugin.directory)]
    return [*(f"`{handler.name}` is {handler.status}: {handler.reason}" for handler in not_working), *texts]


def _hooks(plugin: InstalledPlugin, handlers: Iterable[Handler]) -> tuple[LockedHook, ...] | None:
    """The hooks of a plugin with their events; None if one of them could not be asked."""
    places = (None, plugin.linked or str(plugin.directory))  # the user may have another one of the same name
    own = [
        handler
        for handler in handlers
        if handler.owner == plugin.name
        and not handler.hookless
        and (handler.package and handler.package.directory) in places
    ]
    if any(not handler.event or handler.status is not HandlerStatus.ACTIVE for handler in own):
        return None
    return tuple(
        LockedHook(event=handler.event, name=handler.name, order=handler.order, role=handler.role)
        for handler in own
    )


def switch(here: CommandContext, name: str, *, enabled: bool) -> InstalledPlugin:
    """Turn a plugin on or off in samuel.toml: the project's, or the user's own."""
    refuse_inside_a_run()
    plugin, _ = named(here.root, name)
    set_enabled(here.root, plugin, enabled)
    return plugin
