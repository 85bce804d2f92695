"""Installing, updating and removing plugins: of a project, or of the user.

Every change has three steps. A plan is made in a staging directory, without a lock: plugins are fetched and
checked, with the plugins that they require. The user agrees to the plan. Then, with the plugins directory locked,
the agreement is recorded, the decision is saved, and directories are swapped by renaming.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel import config
from samuel.base import paths
from samuel.base.errors import Problem, SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import shell_word
from samuel.config.edit import set_value
from samuel.files.inside import make_dirs_inside, refuse_links
from samuel.files.lock import held
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.plugins import lock, requirements, source, staging
from samuel.plugins.candidate import PluginCandidate, StagingArea, after, equip, with_lock
from samuel.plugins.fetch import SILENT, FetchProgress
from samuel.plugins.installed import (
    LOCAL,
    InstalledPlugin,
    agreement,
    content_digest,
    directory_of,
    examine,
    look,
    titled,
)
from samuel.plugins.lock import LockedHook, LockedPlugin
from samuel.plugins.model import Manifest
from samuel.plugins.source import PluginSource
from samuel.plugins.staging import ignore_plugins
from samuel.trust.digests import agreed_digest
from samuel.trust.store import trust_of_project

LOCK = ".lock"
LOCK_TIMEOUT = 60.0


class Plan(NamedTuple):
    """What a command would do. Nothing of it is done yet."""

    stage: Path  # the staging directory with the candidates
    candidates: tuple[PluginCandidate, ...]
    unchanged: tuple[InstalledPlugin, ...] = ()  # up to date already
    unlocked: tuple[str, ...] = ()  # installed, and not in samuel.lock
    failed: tuple[str, ...] = ()  # why some cannot be updated

    @property
    def to_agree(self) -> list[PluginCandidate]:
        """Those that the user must agree to."""
        return [candidate for candidate in self.candidates if candidate.ask]


class Store:
    """The plugins of one project, or of the user."""

    def __init__(self, root: Path, user: paths.User, location: str = LOCAL, watch: FetchProgress = SILENT) -> None:
        self.location = location
        self.base = root if location == LOCAL else user.home
        self.plugins = self.base / paths.PLUGIN_DIRS[0]
        self.lock_file = paths.Project(root).lock if location == LOCAL else user.lock
        self._user = user
        self._watch = watch
        self._trust = trust_of_project(user.state, root)
        if location == LOCAL:  # what came with a clone must not lead elsewhere; a home is its owner's to arrange
            refuse_links(root, paths.HOME, *paths.PLUGIN_DIRS)

    def locked(self) -> dict[str, LockedPlugin]:
        return lock.read(self.lock_file)

    def installed(self) -> list[InstalledPlugin]:
        """The installed plugins, sorted by name."""
        return sorted(look(self.base, self.location, self.locked()), key=lambda plugin: plugin.title)

    def all_plugins(self) -> list[InstalledPlugin]:
        """The installed plugins, and those in samuel.lock that are not installed."""
        installed = self.installed()
        titles = {plugin.title for plugin in installed}
        missing = [self._missing(entry) for name, entry in self.locked().items() if name not in titles]
        return sorted([*installed, *missing], key=lambda plugin: plugin.title)

    def named(self, name: str) -> InstalledPlugin:
        """The plugin of this name: org/repo, org@repo, or the name in its manifest."""
        plugins = self.all_plugins()
        for plugin in plugins:
            if requirements.answers(plugin, name):
                return plugin
        names = (name for plugin in plugins for name in (plugin.title, plugin.name))
        hint = did_you_mean(name, names, "`samuel plugin list` shows what there is")
        raise UsageError(f"no {self.location} plugin is called `{name}`", hint)

    # Planning

    @contextmanager
    def staging_area(self) -> Iterator[StagingArea]:
        """A staging directory for one command; what killed commands left behind is finished or removed first."""
        with ExitStack() as stack:
            with self._held():
                directory = stack.enter_context(staging.begin(self.plugins))
            yield StagingArea(directory, self.base, self.plugins, self.location, self._watch)

    def plan_add(
        self,
        staging_area: StagingArea,
        sources: Sequence[PluginSource],
        *,
        link: bool = False,
        force: bool = False,
        grants: Capabilities = NOTHING,
    ) -> Plan:
        """Add these, and the plugins that they require. `grants` are for those without a manifest."""
        installed = self.installed()
        candidates: list[PluginCandidate] = []
        for plugin_source in sources:
            candidate = staging_area.make(plugin_source, link=link, grants=grants)
            candidates.append(
                self._placed(candidate, [*installed, *(other.plugin for other in candidates)], force)
            )
        if grants != NOTHING and all(candidate.plugin.manifest.file for candidate in candidates):
            raise UsageError(
                f"`{candidates[0].title}` asks in its manifest for what it needs",
                "`--grant` is for plugins without one",
            )
        return Plan(staging_area.directory, tuple(self._with_required(staging_area, candidates, installed)))

    def plan_update(self, staging_area: StagingArea, name: str = "") -> Plan:
        """Update from where the plugins came from. Of several, one that cannot be fetched stays as it is."""
        installed = self.installed()
        chosen = [self.named(name)] if name else installed
        if name and chosen[0].locked is None:
            hint = f"`samuel plugin remove {shell_word(name)}`, then add it from where it is"
            raise UsageError(f"samuel.lock does not say where `{name}` came from", hint)
        candidates: list[PluginCandidate] = []
        unchanged: list[InstalledPlugin] = []
        failed: list[str] = []
        for plugin in chosen:
            if plugin.locked is None:
                continue
            try:
                fresh = self._fresh(staging_area, plugin, plugin.locked)
                # With its requirements: if one cannot be met, the other plugins are updated all the same.
                updated = [self._placed(fresh, installed, force=True)] if fresh else []
                candidates += self._with_required(staging_area, updated, after(installed, candidates))
            except SamuelError as error:
                if name:
                    raise
                failed.append(f"`{plugin.title}` was not updated: {error}")
                continue
            if not fresh:
                unchanged.append(plugin)
        candidates = [candidate._replace(ask=not self._is_agreed(candidate.plugin)) for candidate in candidates]
        unlocked = tuple(plugin.title for plugin in chosen if plugin.locked is None)
        return Plan(staging_area.directory, tuple(candidates), tuple(unchanged), unlocked, tuple(failed))

    def plan_install(self, staging_area: StagingArea) -> Plan:
        """Install exactly what samuel.lock says; digests are checked."""
        installed = {
            plugin.title: plugin for plugin in self.installed() if plugin.directory.parent == self.plugins
        }
        entries = self.locked()
        candidates = [self._as_locked(staging_area, entry, installed.get(name)) for name, entry in entries.items()]
        candidates = [candidate._replace(ask=not self._is_agreed(candidate.plugin)) for candidate in candidates]
        unchanged = tuple(candidate.plugin for candidate in candidates if not candidate.staged)
        return Plan(
            staging_area.directory,
            tuple(candidates),
            unchanged,
            tuple(title for title in installed if title not in entries),
        )

    def _fresh(
        self, staging_area: StagingArea, plugin: InstalledPlugin, entry: LockedPlugin
    ) -> PluginCandidate | None:
        """The plugin as it is now where it came from; None if it is the same as the installed one."""
        if entry.link:
            return None
        fresh = staging_area.make(source.of_entry(entry, self.base), grants=entry.capabilities)
        same = (fresh.entry.commit, fresh.entry.digest) == (entry.commit, content_digest(plugin.directory))
        return None if same else fresh

    def _as_locked(
        self, staging_area: StagingArea, entry: LockedPlugin, plugin: InstalledPlugin | None
    ) -> PluginCandidate:
        origin = source.locked(entry, self.base)
        if plugin is not None and _is_as_locked(plugin, entry, origin):
            return PluginCandidate(origin, plugin, entry, plugin, staged=False)
        candidate = staging_area.make(origin, link=entry.link, grants=entry.capabilities)
        return with_lock(candidate, entry)._replace(before=plugin)

    def _placed(
        self, candidate: PluginCandidate, installed: Iterable[InstalledPlugin], force: bool
    ) -> PluginCandidate:
        """The candidate with the plugin that it replaces. Raises SamuelError if its name is taken."""
        title, name = candidate.title, candidate.plugin.name
        for other in installed:
            if other.directory == self.plugins / candidate.source.directory:
                if not force:
                    hint = "`--force` replaces it, `samuel plugin update` gets what is new"
                    raise SamuelError(f"`{title}` is installed already", hint)
                candidate = candidate._replace(before=other)
            elif other.name == name or other.title.casefold() == title.casefold():
                raise SamuelError(
                    f"`{other.title}` is called `{name}` as well",
                    f"`samuel plugin remove {shell_word(other.title)}` frees the name",
                )
        return candidate

    def _with_required(
        self,
        staging_area: StagingArea,
        candidates: Sequence[PluginCandidate],
        installed: Sequence[InstalledPlugin],
    ) -> list[PluginCandidate]:
        """The candidates, followed by the plugins that they require and that are not installed."""
        candidates = list(candidates)
        while True:
            titles = [candidate.title for candidate in candidates]
            unmet = requirements.missing(after(installed, candidates), titles)
            if not unmet:
                requirements.check(after(installed, candidates), titles)
                return candidates
            if len(candidates) >= requirements.MAX_ADDED:
                raise SamuelError(
                    f"more than {requirements.MAX_ADDED} plugins would be installed", "install some first"
                )
            owner = next(candidate for candidate in candidates if candidate.title == unmet[0].owner.title)
            candidates.append(self._placed(self._required(staging_area, owner, unmet[0]), installed, force=False))

    def _required(
        self, staging_area: StagingArea, owner: PluginCandidate, unmet: requirements.UnmetRequirement
    ) -> PluginCandidate:
        # A plugin from the network must not name directories of this machine.
        base = Path(owner.source.url) if owner.source.local else None
        try:
            candidate = staging_area.make(
                source.parse(unmet.source, base or self.base, paths_too=base is not None)
            )
        except SamuelError as error:
            what = f"`{owner.title}` requires `{unmet.requirement.name}`"
            raise SamuelError(f"{what}: {error.message}", error.hint) from None
        if not requirements.answers(candidate.plugin, unmet.requirement.name):
            called = f"`{unmet.source}` is called `{candidate.plugin.name}`"
            raise SamuelError(f"`{owner.title}` requires `{unmet.requirement.name}`, and {called}")
        return candidate._replace(required_by=owner.title)

    # Doing

    def commit(self, plan: Plan, at: str) -> list[InstalledPlugin]:
        """Carry out the plan; the plugins that were put into place.

        The caller has the user's agreement, given at the time `at`, to all of `plan.to_agree`.
        """
        candidates = [equip(candidate, self._user, self._watch) for candidate in plan.candidates]
        entries = {candidate.title: candidate.entry for candidate in candidates}
        with self._held():
            self._refuse_if_taken(candidates)
            if self.location == LOCAL:
                self._agree(candidates, at)
            if any(candidate.staged for candidate in candidates) or not entries.items() <= self.locked().items():
                staging.decide(plan.stage, entries)
                staging.finish(plan.stage, self.lock_file)
        places = [self.plugins / candidate.source.directory for candidate in candidates if candidate.staged]
        return [examine(place, self.location, entries[titled(place.name)]) for place in places]

    def remove(self, name: str, *, force: bool = False) -> InstalledPlugin:
        """Remove a plugin, its entry in samuel.lock and the agreement to it. Its data directory stays."""
        plugin = self.named(name)
        if not force and (others := requirements.needing(plugin, self.installed())):
            who = ", ".join(f"`{other}`" for other in others)
            raise SamuelError(f"`{plugin.title}` is required by {who}", "`--force` removes it anyway")
        with self._held(), staging.begin(self.plugins) as stage:
            entries = self.locked()
            if entries.pop(plugin.title, None):
                lock.write(self.lock_file, entries)
            if os.path.lexists(plugin.directory):
                staging.discard(stage, plugin.directory)
        if self.location == LOCAL:
            self._trust.forget([plugin.agreement], {plugin.name, plugin.title})
        return plugin

    def record_hooks(self, hooks: Mapping[str, tuple[LockedHook, ...]]) -> None:
        """Write the events of the plugins' hooks, by title, into samuel.lock.

        A clone without the plugins then knows which guards are missing.
        """
        with self._held():
            entries = self.locked()
            fresh = {
                title: replace(entry, hooks=hooks[title]) if title in hooks else entry
                for title, entry in entries.items()
            }
            if fresh != entries:
                lock.write(self.lock_file, fresh)

    def _refuse_if_taken(self, candidates: Iterable[PluginCandidate]) -> None:
        """Another command may have installed plugins while the user was asked."""
        installed = self.installed()
        for candidate in candidates:
            if candidate.staged:
                self._placed(candidate, installed, force=candidate.before is not None)

    def _agree(self, candidates: Sequence[PluginCandidate], at: str) -> None:
        """Record the agreement to exactly what was read when the plan was made, even if files changed since."""
        items = []
        for candidate in candidates:
            plugin, content = candidate.plugin, candidate.entry.digest
            digest = agreed_digest(plugin.words, content)
            items.append((plugin.agreement, digest, agreement(plugin).content.encode()))
        self._trust.agree(items, at=at, root=str(self.base))
        self._trust.no_longer_removed(
            [name for candidate in candidates for name in (candidate.plugin.name, candidate.title)]
        )

    def _is_agreed(self, plugin: InstalledPlugin | None) -> bool:
        """Whether the user agreed to it as it is. The user's own plugins need no agreement once installed."""
        if plugin is None or self.location != LOCAL:
            return plugin is not None and plugin.directory.parent == self.plugins
        agreed = self._trust.load().get(plugin.agreement)
        return agreed is not None and agreed.covers(agreement(plugin).digest)

    def _missing(self, entry: LockedPlugin) -> InstalledPlugin:
        place = self.plugins / directory_of(entry.name)
        problem = Problem("it is not installed", str(place), hint="run `samuel plugin install`")
        return InstalledPlugin(place, self.location, Manifest(), entry.capabilities, entry, problems=(problem,))

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The plugins directory, locked, with unfinished changes of killed commands repaired."""
        if self.location == LOCAL:
            os.close(make_dirs_inside(self.base, paths.PLUGIN_DIRS[0], mode=0o755))
            ignore_plugins(self.base)
        else:
            self.plugins.mkdir(parents=True, exist_ok=True)
        with held(self.plugins / LOCK, wait=LOCK_TIMEOUT, note="samuel plugin"):
            staging.repair(self.plugins, self.lock_file)
            yield


def set_enabled(root: Path, plugin: InstalledPlugin, enabled: bool) -> None:
    """`enabled` in `[plugins.<name>]` of samuel.toml, by the name that the file already uses."""
    file = root / paths.CONFIG
    settings = config.load(file).plugins
    name = plugin.title if plugin.title in settings and plugin.name not in settings else plugin.name
    set_value(file, ("plugins", name, "enabled"), enabled)


def _is_as_locked(plugin: InstalledPlugin, entry: LockedPlugin, origin: PluginSource) -> bool:
    if entry.link or plugin.linked:
        return entry.link and plugin.linked == os.path.realpath(origin.url)
    return bool(entry.digest) and content_digest(plugin.directory) == entry.digest
