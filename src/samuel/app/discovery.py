"""Which handlers an opened project has: what is remembered of its hook files, and where to look for more."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.base import paths
from samuel.hooks.handler import Handler
from samuel.sources.index import HookIndex
from samuel.trust.repository import index_name

# What follows is imported where it is used: an event with known hooks does not need the sources.
if TYPE_CHECKING:
    from samuel.app.project import App
    from samuel.clients.hook_formats.imported_file import ImportedFile
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
