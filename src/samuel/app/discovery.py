"""Which handlers an opened project has, and their chains: what is known of its hooks, and where to find more."""

from __future__ import annotations

# What follows is imported where it is used: an event with known hooks does not need the sources.
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.base import paths
from samuel.base.errors import ConfigError
from samuel.config.model import NO_SETTINGS, Config
from samuel.events import EVENTS
from samuel.hooks.handler import Handler
from samuel.hooks.order import Chain, resolve
from samuel.sources.index import HookIndex
from samuel.trust.repository import index_name

if TYPE_CHECKING:
    from samuel.app.project import App
    from samuel.clients.hook_formats.entry import ImportedFile
    from samuel.runtimes.table import Runtimes
    from samuel.sources.discover import DiscoveryContext
    from samuel.sources.yaml_cache import YamlHookCache
    from samuel.sources.yaml_hook import Environment


class HandlerDiscovery:
    def __init__(self, app: App, runtimes: Runtimes, *, fresh: bool) -> None:
        """`runtimes` run hook files to ask them for their events; `fresh` looks at every hook again."""
        self._app = app
        self._runtimes = runtimes
        self._fresh = fresh

    @cached_property
    def index(self) -> HookIndex:
        """What the places of hooks held when they were last looked through."""
        both = (self._app.paths.root, self._app.user.home)
        return HookIndex(
            self._app.user.state / "index" / index_name(self._app.trust_key, self._app.paths.root),
            [base / place for base in both for place in paths.HOOK_DIRS],
            [
                self._app.paths.root / paths.YAML_HOOKS,
                *(file.path for files in self.imported_files for file in files),
                *(base / place for base in both for place in paths.PLUGIN_DIRS),
            ],
            self._app.paths.root,
            f"{self._app.trust_stamp} {self._app.plugins.stamp} {self._app.environment} {self._named_by_settings} "
            f"{self.imported_files}",
            fresh=self._fresh,
        )

    @cached_property
    def imported_files(self) -> tuple[list[ImportedFile], list[ImportedFile]]:
        """The files with hooks of other agents that are imported: the project's, and the user's."""
        if not self._app.config.import_hooks and not self._app.personal.import_hooks:
            return [], []
        from samuel.sources.client_hooks.imported_files import project_files, user_files

        return (
            project_files(self._app.paths.root, self._app.config.import_hooks),
            user_files(self._app.user.home, self._app.personal.import_hooks),
        )

    def handlers(self, own: list[Handler]) -> tuple[Handler, ...]:
        """All handlers of the project; `own` are those that are no files of it."""
        if not self._app.config.distributions and (indexed := self.index.recall(self._app.permit)) is not None:
            return (*indexed, *own)
        from samuel.sources.discover import discover

        return discover(self.context(), own)

    @cached_property
    def yaml_files(self) -> YamlHookCache:
        """What is known of `.system/hooks/`."""
        from samuel.shipped.table import SHIPPED_HOOKS
        from samuel.sources.yaml_cache import YamlHookCache

        return YamlHookCache(SHIPPED_HOOKS, self._app.user.state / "yaml" / self._app.trust_key)

    @property
    def _named_by_settings(self) -> tuple[str, ...]:
        return tuple(filter(None, (self._app.config.environment, self._app.personal.environment)))

    @cached_property
    def environment_here(self) -> Environment:
        """Where this is, and what here has a name for it."""
        from samuel.sources.yaml_hook import Environment

        root = self._app.paths.root

        def of_hooks() -> list[str]:
            hooks = (read.hook for read in self.yaml_files.look(root))
            return [name for hook in hooks if hook for name in hook.environments]

        def of_abilities() -> list[str]:
            from samuel.routing.abilities import registry  # slow to read, and hardly ever needed

            abilities = registry.load(root, self._app.user.cache).abilities
            return [name for ability in abilities for name in ability.environments]

        return Environment(self._app.environment, self._named_by_settings, of_hooks, of_abilities)

    def context(self) -> DiscoveryContext:
        """What discovery looks at, for this project and this user."""
        from samuel.sources.client_hooks.find import ClientHooks, LastTrusted
        from samuel.sources.declarations import DeclarationCache
        from samuel.sources.discover import DiscoveryContext
        from samuel.sources.yaml_hooks import YamlHooks

        def answers(key: str, root: Path) -> DeclarationCache:
            file = self._app.user.state / "declarations" / key
            return DeclarationCache(
                file, str(root), self._app.variables, self._app.user.cache, self._runtimes.python
            )

        return DiscoveryContext(
            root=self._app.paths.root,
            home=self._app.user.home,
            distributions=self._app.config.distributions,
            plugins=lambda: self._app.plugins.of_project,
            missing_plugins=lambda: self._app.plugins.missing_entries,
            user_plugins=lambda: self._app.plugins.of_user,
            plugin_settings=self._app.config.plugins,
            environments=self._app.user.environments,
            yaml_hooks=YamlHooks(self._app.paths.root, self.environment_here, self.yaml_files, self._app.permit),
            client_hooks=ClientHooks(
                self._app.paths.root,
                *self.imported_files,
                LastTrusted(self._app.user.state / "client-hooks" / self._app.trust_key),
                self._app.permit,
            ),
            permit=self._app.permit,
            python=self._runtimes.python,
            project_answers=answers(self._app.trust_key, self._app.paths.root),
            user_answers=answers("user", self._app.user.home),
            hook_index=self.index,
        )


def tool_name_warnings(app: App) -> list[str]:
    """One for each handler and name; a project may have an ability of that name."""
    from samuel.clients.dialect.tool_names import FILTER, warnings  # with every client's dialect

    filtered = [(handler.name, handler.match) for handler in app.handlers if FILTER in handler.match]
    if not filtered:
        return []
    from samuel.routing.abilities import registry  # reads the project's abilities

    abilities = registry.load(app.paths.root, app.user.cache).abilities
    return warnings(filtered, [ability.id for ability in abilities])


def resolved_chains(
    handlers: Sequence[Handler], config: Config, methodology: str, removed_names: Callable[[], Collection[str]]
) -> dict[str, Chain]:
    """By canonical event name, in the order of the catalogue. Raises ConfigError for what is wrong in samuel.toml.

    `removed_names` returns what the owner called handlers that they removed from the project.
    """
    by_event: dict[str, list[Handler]] = {}
    for handler in handlers:
        by_event.setdefault(handler.event, []).append(handler)
    chains: dict[str, Chain] = {}
    for event in EVENTS:
        # Handlers without an event could not be asked for theirs; samuel.toml may name them for any event.
        candidates = [*by_event.get(event.name, ()), *by_event.get("", ())]
        settings = config.settings(event.name, methodology)
        if not candidates and settings == NO_SETTINGS:
            chains[event.name] = Chain(event, ())
            continue
        file = str(config.file or "")
        chains[event.name] = resolve(
            event, candidates, settings, file, all_handlers=handlers, removed_names=removed_names
        )
    if problems := [problem for chain in chains.values() for problem in chain.problems]:
        raise ConfigError(problems)
    return chains
