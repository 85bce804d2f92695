"""The plugins of an opened project and of its user, read when somebody asks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from samuel import paths
from samuel.config.model import PluginSettings
from samuel.files.survey import signature
from samuel.trust.permit import Permit

# Read where they are used: an event with known hooks needs none of them.
if TYPE_CHECKING:
    from samuel.plugins.installed import InstalledPlugin
    from samuel.plugins.lock import LockedPlugin


class Plugins:
    def __init__(
        self, project: paths.Project, user: paths.User, settings: Mapping[str, PluginSettings], permit: Permit
    ) -> None:
        self._project = project
        self._user = user
        self._settings = settings
        self._permit = permit

    @cached_property
    def of_project(self) -> list[InstalledPlugin]:
        """Whatever their state."""
        from samuel.plugins import lock
        from samuel.plugins.installed import LOCAL, look

        return look(self._project.root, LOCAL, lock.read(self._project.lock))

    @cached_property
    def of_user(self) -> list[InstalledPlugin]:
        """A project that *is* the home directory has no second set of them."""
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
        """Those that take part: agreed to, enabled, without a problem; the project's first."""
        from samuel.sources.plugins import package_of

        environments = self._user.environments
        agreed = [one for one in self.of_project if not self._permit.package(package_of(one, environments))]
        return [one for one in (*agreed, *self.of_user) if not one.problems and self._enabled(one)]

    @property
    def untrusted(self) -> list[InstalledPlugin]:
        """Those of the project that nobody agreed to as they are."""
        from samuel.sources.plugins import package_of

        environments = self._user.environments
        return [one for one in self.of_project if self._permit.package(package_of(one, environments))]

    @property
    def missing(self) -> list[str]:
        """What samuel.lock names and is not there, such as in a fresh clone."""
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
        """Changes with whatever, besides their files, decides about plugins."""
        said = [_stamp(self._project.lock), _stamp(self._user.lock), self._settings]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def _enabled(self, plugin: InstalledPlugin) -> bool:
        said = self._settings.get(plugin.name) or self._settings.get(plugin.title)
        return said is None or said.enabled


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        return signature(os.stat(file))
    except OSError:
        return ()
