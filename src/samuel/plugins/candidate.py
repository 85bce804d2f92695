"""A plugin that was fetched and checked and is not installed yet: what the user reads before agreeing to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.base.paths import User
from samuel.confine.containers import engine
from samuel.hooks.capability import NOTHING, Capabilities, beyond
from samuel.plugins import environment, staging
from samuel.plugins.contents import contents, escapes
from samuel.plugins.fetch import Fetched, FetchProgress, fetch
from samuel.plugins.installed import LOCAL, InstalledPlugin, content_digest, examine
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.manifest import load
from samuel.plugins.model import FILE, OCI, Manifest
from samuel.plugins.source import PATH, PluginSource
from samuel.process.reason import NotRunnable


class PluginCandidate(NamedTuple):
    source: PluginSource
    plugin: InstalledPlugin  # in the staging directory, or in its place if it is installed already
    entry: LockedPlugin  # its future entry in samuel.lock
    before: InstalledPlugin | None = None  # the plugin that it replaces
    required_by: str = ""
    staged: bool = True  # False: its files are in place, and only the agreement or its environment is missing
    ask: bool = True  # must the user agree to it?

    @property
    def title(self) -> str:
        return self.plugin.title

    @property
    def news(self) -> list[str]:
        """The capabilities that the plugin before did not have."""
        return beyond(self.plugin.grants, self.before.grants if self.before else NOTHING)


class StagingArea(NamedTuple):
    """Makes candidates in the staging directory of one command."""

    directory: Path
    base: Path  # the project's root, or the user's home
    plugins: Path
    location: str
    watch: FetchProgress

    def make(self, source: PluginSource, *, link: bool = False, grants: Capabilities = NOTHING) -> PluginCandidate:
        """Fetch a plugin and check it. `grants` are for one without a manifest, which cannot ask for any."""
        if source.kind == PATH:
            self._refuse_round_trip(source)
        new = self.directory / staging.NEW
        if link:
            fetched, fetched_directory = Fetched("", ""), Path(source.url)
            if source.kind != PATH:
                raise UsageError(
                    f"`{source.text_with_ref}` cannot be linked", "`--link` is for a directory, without a ref"
                )
        else:
            fetched_directory = new / f".{len(os.listdir(new))}"
            fetched = fetch(
                source, fetched_directory, self.watch, project=self.base if self.location == LOCAL else None
            )
        source = source.titled(_titled(fetched_directory, source))
        directory = new / source.directory
        if os.path.lexists(directory):
            raise UsageError(f"`{source.title}` is named twice", "name it once")
        if link:
            directory.symlink_to(os.path.realpath(fetched_directory), target_is_directory=True)
        else:
            fetched_directory.rename(directory)
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
            source=source.lock_text(self.base, relative=self.location == LOCAL),
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
    """The plugin's manifest, if it can be installed; ConfigError with every problem otherwise."""
    problems: list[Problem] = []
    try:
        manifest = load(directory)
    except ConfigError as error:
        manifest, problems = Manifest(), list(error.problems)
    # A linked plugin is its author's own directory, which may hold files that are never installed.
    problems += [] if link else escapes(directory)
    if not problems and not manifest.file and not any(contents(directory, manifest)):
        problems.append(
            Problem(f"not a plugin: no {FILE}, no skills/, recipes/ or executables in hooks/", str(directory))
        )
    if problems:
        raise ConfigError(_renamed(problems, directory, title))
    return manifest


def with_lock(candidate: PluginCandidate, locked: LockedPlugin) -> PluginCandidate:
    """The candidate with its entry of samuel.lock. Raises SamuelError when its content is not the locked one."""
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
    """The candidate with the image and the packages that were resolved after the user agreed."""
    entry = replace(candidate.entry, image=image, python=python)
    return candidate._replace(entry=entry, plugin=candidate.plugin._replace(locked=entry))


def after(installed: Sequence[InstalledPlugin], candidates: Iterable[PluginCandidate]) -> list[InstalledPlugin]:
    """The plugins that would be installed."""
    by_title = {plugin.title: plugin for plugin in installed}
    by_title.update({candidate.title: candidate.plugin for candidate in candidates})
    return list(by_title.values())


def _titled(directory: Path, source: PluginSource) -> str:
    """The name in the manifest; "" if it cannot be read. Its problems are reported when all of it is checked."""
    if not source.local:
        return ""
    try:
        return load(directory).name
    except ConfigError:
        return ""


def _renamed(problems: Iterable[Problem], directory: Path, title: str) -> list[Problem]:
    """The problems with paths inside the plugin, as its author knows them."""
    return [problem._replace(file=problem.file.replace(str(directory), title, 1)) for problem in problems]


def equip(candidate: PluginCandidate, user: User, watch: FetchProgress) -> PluginCandidate:
    """The candidate, pinned to the packages and the image that were made ready for it. Raises SamuelError."""
    manifest, entry = candidate.plugin.manifest, candidate.entry
    python: tuple[str, ...] = ()
    image = ""
    try:
        if manifest.dependencies:
            watch.step(f"making a Python environment for {candidate.title}")
            python = entry.python or environment.resolve(user.environments, manifest.dependencies)
            environment.make(user.environments, python)
        if manifest.kind == OCI:
            watch.step(f"getting the image of {candidate.title}")
            image = _image(candidate, user)
    except SamuelError as error:
        raise SamuelError(f"`{candidate.title}`: {error.message}", error.hint) from None
    return pinned(candidate, image=image, python=python)


def _image(candidate: PluginCandidate, user: User) -> str:
    """The locked image, or else the one that the manifest names.

    An image that was built exists only on the machine that built it: another machine builds its own from the same
    files.
    """
    manifest = candidate.plugin.manifest
    if locked_image := candidate.entry.image:
        try:
            return engine.pin(locked_image, host=os.environ, cache=user.cache)
        except NotRunnable:
            if not manifest.containerfile or not locked_image.startswith("sha256:"):
                raise
    file = candidate.plugin.directory / manifest.containerfile if manifest.containerfile else None
    return engine.pin(manifest.image, containerfile=file, host=os.environ, cache=user.cache)
