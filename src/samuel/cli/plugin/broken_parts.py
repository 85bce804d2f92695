"""What of a plugin does not work, and the events of its hooks, which go into samuel.lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from samuel.base.errors import ConfigError, Problem
from samuel.cli.command_context import CommandContext
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.plugins.contents import RECIPES, SKILLS
from samuel.plugins.installed import LOCAL, InstalledPlugin
from samuel.plugins.lock import LockedHook
from samuel.plugins.store import Store
from samuel.prompts.render import used_names
from samuel.skills import recipe as recipes
from samuel.skills import skill as skills
from samuel.skills.text_files import TextDirectory, read_directory


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


def unusable(directory: Path) -> Iterator[Problem]:
    """What is wrong with the skills and recipes of a plugin."""
    for text in read_directory(
        TextDirectory(directory, SKILLS, Origin.PROJECT_PLUGIN), skills.name_of, 2, by_line=True
    ):
        skill = skills.skill(text)
        if skill.status is HandlerStatus.BROKEN:
            yield text.problem or Problem(skill.reason)
    for text in read_directory(TextDirectory(directory, RECIPES, Origin.PROJECT_PLUGIN), recipes.name_of):
        recipe = recipes.recipe(text)
        if recipe.status is HandlerStatus.BROKEN:
            yield text.problem or Problem(recipe.reason)
            continue
        try:  # empty lines in place of the front matter: the lines in messages are then those of the file
            used_names("\n" * (recipe.body_line - 1) + recipe.body, str(recipe.path))
        except ConfigError as error:
            yield from error.problems
