"""`[requires]`: which plugins need which, in which versions. Pure functions over a list of plugins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.model import Requirement
from samuel.plugins.ranges import within

MAX_ADDED = 100  # plugins that one `add` may install


class UnmetRequirement(NamedTuple):
    """A requirement that no plugin meets."""

    owner: InstalledPlugin
    requirement: Requirement

    @property
    def source(self) -> str:
        """The argument for `plugin add`: the source in the manifest, or the name if it is org/repo."""
        return self.requirement.source or self.requirement.name


def answers(plugin: InstalledPlugin, name: str) -> bool:
    """Whether `name` means this plugin: its name, its title or its directory."""
    return name in (plugin.name, plugin.title, plugin.directory.name)


def missing(plugins: Sequence[InstalledPlugin], owners: Collection[str]) -> list[UnmetRequirement]:
    """The requirements of the owners (by title) that no plugin meets."""
    return [
        UnmetRequirement(plugin, requirement)
        for plugin in plugins
        if plugin.title in owners
        for requirement in plugin.manifest.requires
        if not any(answers(other, requirement.name) for other in plugins)
    ]


def check(plugins: Sequence[InstalledPlugin], changed: Collection[str]) -> None:
    """Refuse versions out of range and cycles of requirements.

    Only those that involve a `changed` plugin (by title): problems from before do not stop a change.
    """
    wrong = [
        _misfit(plugin, requirement, other)
        for plugin in plugins
        for requirement in plugin.manifest.requires
        for other in plugins
        if answers(other, requirement.name) and (plugin.title in changed or other.title in changed)
    ]
    needs = {
        plugin.title: [
            other.title
            for requirement in plugin.manifest.requires
            for other in plugins
            if answers(other, requirement.name)
        ]
        for plugin in plugins
    }
    circles = [circle for title in needs if title in changed and (circle := _circle(title, needs))]
    first_of_each = {frozenset(circle): circle for circle in reversed(circles)}
    wrong += [f"they require each other: {' -> '.join(circle)}" for circle in first_of_each.values()]
    if problems := [line for line in dict.fromkeys(wrong) if line]:
        raise SamuelError("\n".join(problems), "nothing was installed")


def needing(plugin: InstalledPlugin, plugins: Iterable[InstalledPlugin]) -> list[str]:
    """The titles of the plugins that require this one."""
    return [
        other.title
        for other in plugins
        if other.directory != plugin.directory
        and any(answers(plugin, requirement.name) for requirement in other.manifest.requires)
    ]


def _misfit(owner: InstalledPlugin, requirement: Requirement, other: InstalledPlugin) -> str:
    if not requirement.version:
        return ""
    version = other.manifest.version
    if version and within(version, requirement.version):
        return ""
    actual = f"version {version}" if version else "a plugin without a version"
    return f"`{owner.title}` requires `{requirement.name}` {requirement.version}, and `{other.title}` is {actual}"


def _circle(title: str, needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest way from a plugin over what it requires back to itself, by title; [] if there is none."""
    paths = [[title]]
    visited: set[str] = set()
    for path in paths:  # grows while it is walked
        for other in needs[path[-1]]:
            if other == title:
                return [*path, other]
            if other not in visited:
                visited.add(other)
                paths.append([*path, other])
    return []
