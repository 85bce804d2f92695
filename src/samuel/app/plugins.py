"""The plugins of an opened project and of its user, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from samuel.base import paths
from samuel.config.model import PluginSettings
from samuel.files.survey import target_signature
from samuel.trust.permit import Permit

# Imported where they are used: an event whose hooks are in the index needs none of them.
if TYPE_CHECKING:
    from samuel.plugins.installed import InstalledPlugin
    from samuel.plugins.lock import LockedPlugin


class Plugins:
    """The installed plugins by location and state: whose hooks run, which are untrusted, which are missing."""

    def __init__(
        self, project: paths.Project, user: paths.User, settings: Mapping[str, PluginSettings], permit: Permit
    ) -> None:
        self._project = project
        self._user = user
        self._settings = settings
        self._permit = permit

    @cached_property
    def of_project(self) -> list[InstalledPlugin]:
        """The project's plugins, whatever their state."""
        from samuel.plugins import lock
        from samuel.plugins.installed import LOCAL, look

        return look(self._project.root, LOCAL, lock.read(self._project.lock))

    @cached_property
    def of_user(self) -> list[InstalledPlugin]:
        """The user's own plugins; none if the project is the home directory itself."""
        if self._user.home.resolve() == self._project.root:
            return []
        from samuel.plugins import lock
        from samuel.plugins.installed import GLOBAL, look

        return look(self._user.home, GLOBAL, lock.read(self._user.lock))

    @property
    def all(self) -> list[InstalledPlugin]:
        return [*self.of_project, *self.of_user]

    @property
    def usable(self) -> list[InstalledPlugin]:
        """Those whose hooks run: trusted, enabled, without a problem; the project's first."""
        from samuel.sources.plugins import package_of

        environments = self._user.environments
        trusted = [
            plugin for plugin in self.of_project if not self._permit.package(package_of(plugin, environments))
        ]
        return [plugin for plugin in (*trusted, *self.of_user) if not plugin.problems and self._enabled(plugin)]

    @property
    def untrusted(self) -> list[InstalledPlugin]:
        """The project's plugins whose present content the user has not trusted."""
        from samuel.sources.plugins import package_of

        environments = self._user.environments
        return [plugin for plugin in self.of_project if self._permit.package(package_of(plugin, environments))]

    @property
    def missing(self) -> list[str]:
        """The names of plugins that samuel.lock lists and that are not installed, as in a fresh clone."""
        return [entry.name for entry in self.missing_entries]

    @cached_property
    def missing_entries(self) -> list[LockedPlugin]:
        if not self._project.lock.exists():
            return []
        from samuel.plugins import lock
        from samuel.plugins.installed import directory_of

        places = [self._project.root / place for place in paths.PLUGIN_DIRS]
        named = lock.read(self._project.lock)
        return [
            entry
            for name, entry in named.items()
            if not any((place / directory_of(name)).is_dir() for place in places)
        ]

    @property
    def stamp(self) -> str:
        """Changes when the lock files or the settings do, which together with their files decide about plugins."""
        inputs = [target_signature(self._project.lock), target_signature(self._user.lock), self._settings]
        return sha256(repr(inputs).encode()).hexdigest()

    def _enabled(self, plugin: InstalledPlugin) -> bool:
        settings = self._settings.get(plugin.name) or self._settings.get(plugin.title)
        return settings is None or settings.enabled
