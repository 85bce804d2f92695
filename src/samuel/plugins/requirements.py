"""`[requires]`: which plugins need which, in which versions. Pure functions over what is or would be there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from samuel.errors import SamuelError
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.model import Requirement
from samuel.plugins.ranges import within

MOST = 100  # plugins that one `add` may bring


class Lacking(NamedTuple):
    """A requirement that nothing there answers to."""

    owner: InstalledPlugin
    wanted: Requirement

    @property
    def source(self) -> str:
        """What `plugin add` would be given; a manifest gives one, or a name that is one."""
        return self.wanted.source or self.wanted.name


def answers(plugin: InstalledPlugin, name: str) -> bool:
    """Is this what somebody calls `name`? Both of its names count."""
    return name in (plugin.name, plugin.title, plugin.directory.name)


def missing(there: Sequence[InstalledPlugin], owners: Collection[str]) -> list[Lacking]:
    """What these owners (by title) require and nothing there answers to."""
    return [
        Lacking(plugin, wanted)
        for plugin in there
        if plugin.title in owners
        for wanted in plugin.manifest.requires
        if not any(answers(other, wanted.name) for other in there)
    ]


def check(there: Sequence[InstalledPlugin], changed: Collection[str]) -> None:
    """Refuse versions that do not fit and requirements that go round in a circle.

    Only what has to do with the `changed` ones (by title): what was wrong before is not their fault.
    """
    wrong = [
        _misfit(plugin, wanted, other)
        for plugin in there
        for wanted in plugin.manifest.requires
        for other in there
        if answers(other, wanted.name) and (plugin.title in changed or other.title in changed)
    ]
    circles = (circle for circle in _circles(there) if {*circle} & {*changed})
    wrong += [f"they require each other: {' -> '.join(circle)}" for circle in circles]
    if said := [line for line in dict.fromkeys(wrong) if line]:
        raise SamuelError("\n".join(said), "nothing was installed")


def needing(plugin: InstalledPlugin, there: Iterable[InstalledPlugin]) -> list[str]:
    """The titles of those that require this one."""
    return [
        other.title
        for other in there
        if other.directory != plugin.directory
        and any(answers(plugin, wanted.name) for wanted in other.manifest.requires)
    ]


def _misfit(owner: InstalledPlugin, wanted: Requirement, other: InstalledPlugin) -> str:
    if not wanted.version:
        return ""
    version = other.manifest.version
    if version and within(version, wanted.version):
        return ""
    found = f"version {version}" if version else "a plugin without a version"
    return f"`{owner.title}` requires `{wanted.name}` {wanted.version}, and `{other.title}` is {found}"


def _circles(there: Sequence[InstalledPlugin]) -> list[list[str]]:
    needs = {
        plugin.title: [
            other.title for wanted in plugin.manifest.requires for other in there if answers(other, wanted.name)
        ]
        for plugin in there
    }
    found: list[list[str]] = []
    done: set[str] = set()
    for first in needs:
        _walk(first, [], needs, done, found)
    return found


def _walk(
    title: str,
    way: list[str],
    needs: dict[str, list[str]],
    done: set[str],
    found: list[list[str]],
) -> None:
    if title in way:
        found.append([*way[way.index(title) :], title])
    elif title not in done:
        for other in needs[title]:
            _walk(other, [*way, title], needs, done, found)
        done.add(title)
