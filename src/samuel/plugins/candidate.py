"""A plugin that was fetched and checked and is not installed yet: what a person sees before they agree to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.hooks.capability import NOTHING, Capabilities, beyond
from samuel.plugins import staging
from samuel.plugins.contents import contents, escapes
from samuel.plugins.fetch import Fetched, FetchProgress, fetch
from samuel.plugins.installed import LOCAL, InstalledPlugin, content_digest, examine
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.manifest import load
from samuel.plugins.model import FILE, Manifest
from samuel.plugins.source import PATH, PluginSource


class PluginCandidate(NamedTuple):
    source: PluginSource
    plugin: InstalledPlugin  # as it lies in the staging directory, or in its place if it is there already
    entry: LockedPlugin  # what samuel.lock will say
    before: InstalledPlugin | None = None  # what it replaces
    required_by: str = ""
    staged: bool = True  # False: it is in its place already, and waits for somebody's word or for its environment
    ask: bool = True  # does it need somebody's word?

    @property
    def title(self) -> str:
        return self.plugin.title

    @property
    def news(self) -> list[str]:
        """What it may do that the one before might not."""
        return beyond(self.plugin.grants, self.before.grants if self.before else NOTHING)


class StagingArea(NamedTuple):
    """Where candidates are made: one command's staging directory, and what it is for."""

    directory: Path
    base: Path  # the project's root, or the user's home
    plugins: Path
    location: str
    watch: FetchProgress

    def make(self, source: PluginSource, *, link: bool = False, grants: Capabilities = NOTHING) -> PluginCandidate:
        """Fetch a plugin and look at it. `grants` are for one that has no manifest to ask for any."""
        if source.kind == PATH:
            self._refuse_round_trip(source)
        new = self.directory / staging.NEW
        if link:
            fetched, found = Fetched("", ""), Path(source.url)
            if source.kind != PATH:
                raise UsageError(
                    f"`{source.shown}` cannot be linked", "`--link` is for a directory, without a ref"
                )
        else:
            found = new / f".{len(os.listdir(new))}"
            fetched = fetch(source, found, self.watch, project=self.base if self.location == LOCAL else None)
        source = source.titled(_titled(found, source))
        directory = new / source.directory
        if os.path.lexists(directory):
            raise UsageError(f"`{source.title}` is named twice", "once is enough")
        if link:
            directory.symlink_to(os.path.realpath(found), target_is_directory=True)
        else:
            found.rename(directory)
        return self._looked_at(source, directory, fetched, grants, link)

    def _looked_at(
        self, source: PluginSource, directory: Path, fetched: Fetched, grants: Capabilities, link: bool
    ) -> PluginCandidate:
        manifest = checked(directory, source.title, link=link)
        if manifest.file:
            grants = manifest.capabilities
        digest = "" if link else content_digest(directory)
        if not link and not digest:
            raise SamuelError(
                f"`{source.title}` cannot be read", "a link in it may lead to a directory, or nowhere"
            )
        entry = LockedPlugin(
            name=source.title,
            source=source.written(self.base, relative=self.location == LOCAL),
            ref=fetched.ref,
            commit=fetched.commit,
            digest=digest,
            link=link,
            capabilities=grants,
        )
        return PluginCandidate(source, examine(directory, self.location, entry), entry)

    def _refuse_round_trip(self, source: PluginSource) -> None:
        """A directory that holds the plugins would be copied into itself."""
        origin, plugins = Path(os.path.realpath(source.url)), Path(os.path.realpath(self.plugins))
        if origin.is_relative_to(plugins) or plugins.is_relative_to(origin):
            raise UsageError(
                f"`{source.url}` holds the installed plugins, or is one of them", "name another directory"
            )


def checked(directory: Path, title: str, *, link: bool = False) -> Manifest:
    """What the plugin says of itself, if it can be installed; every problem at once otherwise."""
    problems: list[Problem] = []
    try:
        manifest = load(directory)
    except ConfigError as error:
        manifest, problems = Manifest(), list(error.problems)
    # A linked one is its author's own directory, and may have what an installed one may not.
    problems += [] if link else escapes(directory)
    if not problems and not manifest.file and not any(contents(directory, manifest)):
        problems.append(
            Problem(f"no plugin: no {FILE}, no skills/, recipes/ or executables in hooks/", str(directory))
        )
    if problems:
        raise ConfigError(_renamed(problems, directory, title))
    return manifest


def with_lock(candidate: PluginCandidate, locked: LockedPlugin) -> PluginCandidate:
    """The candidate as a lock has it. Raises SamuelError when it is another plugin than the one locked."""
    entry = candidate.entry
    if entry.commit != locked.commit:
        raise SamuelError(f"`{locked.name}` is at {entry.commit}, and samuel.lock says {locked.commit}")
    if entry.digest != locked.digest:
        raise SamuelError(
            f"`{locked.name}` is not what samuel.lock says: its content has sha256 {entry.digest or 'nothing'}, "
            f"and {locked.digest or 'nothing'} was locked",
            "nothing was installed; if it was changed on purpose, `samuel plugin update` locks what is there now",
        )
    plugin = examine(candidate.plugin.directory, candidate.plugin.location, locked)
    if plugin.problems:
        raise ConfigError(_renamed(plugin.problems, plugin.directory, plugin.title))
    return candidate._replace(entry=locked, plugin=plugin)


def pinned(candidate: PluginCandidate, *, image: str, python: tuple[str, ...]) -> PluginCandidate:
    """The candidate with what was found out after somebody agreed to it."""
    entry = replace(candidate.entry, image=image, python=python)
    return candidate._replace(entry=entry, plugin=candidate.plugin._replace(locked=entry))


def after(installed: Sequence[InstalledPlugin], candidates: Iterable[PluginCandidate]) -> list[InstalledPlugin]:
    """What would be there."""
    there = {plugin.title: plugin for plugin in installed}
    there.update({candidate.title: candidate.plugin for candidate in candidates})
    return list(there.values())


def _titled(directory: Path, source: PluginSource) -> str:
    """The name in the manifest. What is wrong with the manifest is told when all of it is looked at."""
    if not source.local:
        return ""
    try:
        return load(directory).name
    except ConfigError:
        return ""


def _renamed(problems: Iterable[Problem], directory: Path, title: str) -> list[Problem]:
    """As the author of the plugin knows its files."""
    return [problem._replace(file=problem.file.replace(str(directory), title, 1)) for problem in problems]
