"""Installing, updating and removing plugins: of a project, or of the user.

Every change goes the same way. A plan is made in a staging directory, without holding anybody up: plugins are
fetched, checked, and whatever they require is found. A person agrees to the plan. Then, with the plugins directory
locked, the agreement is recorded, the decision is written down, and directories are swapped by renaming.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel import config, paths
from samuel.config.edit import set_value
from samuel.errors import Problem, SamuelError, UsageError
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside, refuse_links
from samuel.files.lock import held
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.nearest import did_you_mean
from samuel.plugins import environment, lock, requirements, source, staging
from samuel.plugins.candidate import PluginCandidate, StagingArea, after, pinned, with_lock
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
from samuel.plugins.model import OCI, Manifest
from samuel.plugins.source import PluginSource
from samuel.process.containers import engine
from samuel.process.reason import NotRunnable
from samuel.trust.digests import agreed_digest
from samuel.trust.repository import trust_key
from samuel.trust.store import TrustStore

LOCK = ".lock"
PATIENCE = 60.0
IGNORED = "plugins/"
MOST_IGNORED = 1 << 20
_ALREADY_IGNORED = (IGNORED, "plugins", "/plugins", "/plugins/", "*")


class Plan(NamedTuple):
    """What a command would do. Nothing of it is done yet."""

    stage: Path  # where the candidates lie
    candidates: tuple[PluginCandidate, ...]
    left: tuple[InstalledPlugin, ...] = ()  # right as they are
    unlocked: tuple[str, ...] = ()  # there, and not in samuel.lock
    failed: tuple[str, ...] = ()  # why some are left as they are

    @property
    def asked(self) -> list[PluginCandidate]:
        """Those that need somebody's word."""
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
        self._trust = TrustStore(user.state / "trust", trust_key(root))
        if location == LOCAL:  # what came with a clone must not lead elsewhere; a home is its owner's to arrange
            refuse_links(root, paths.HOME, *paths.PLUGIN_DIRS)

    def locked(self) -> dict[str, LockedPlugin]:
        return lock.read(self.lock_file)

    def installed(self) -> list[InstalledPlugin]:
        """Those that are there, by name."""
        return sorted(look(self.base, self.location, self.locked()), key=lambda plugin: plugin.title)

    def known(self) -> list[InstalledPlugin]:
        """Also those that samuel.lock names and that are not there."""
        there = self.installed()
        titles = {plugin.title for plugin in there}
        missing = [self._missing(entry) for name, entry in self.locked().items() if name not in titles]
        return sorted([*there, *missing], key=lambda plugin: plugin.title)

    def named(self, name: str) -> InstalledPlugin:
        """The plugin that is called so: org/repo, org@repo, or the name in its manifest."""
        known = self.known()
        for plugin in known:
            if requirements.answers(plugin, name):
                return plugin
        names = (name for plugin in known for name in (plugin.title, plugin.name))
        hint = did_you_mean(name, names, "`samuel plugin list` shows what there is")
        raise UsageError(f"no {self.location} plugin is called `{name}`", hint)

    # Planning

    @contextmanager
    def workshop(self) -> Iterator[StagingArea]:
        """Room for one command's work, once what killed commands left is in order again."""
        with ExitStack() as stack:
            with self._held():
                directory = stack.enter_context(staging.begin(self.plugins))
            yield StagingArea(directory, self.base, self.plugins, self.location, self._watch)

    def plan_add(
        self,
        workshop: StagingArea,
        sources: Sequence[PluginSource],
        *,
        link: bool = False,
        force: bool = False,
        grants: Capabilities = NOTHING,
    ) -> Plan:
        """These, and whatever they require. `grants` are for those without a manifest."""
        there = self.installed()
        made: list[PluginCandidate] = []
        for one in sources:
            found = workshop.make(one, link=link, grants=grants)
            made.append(self._placed(found, [*there, *(other.plugin for other in made)], force))
        if grants != NOTHING and all(candidate.plugin.manifest.file for candidate in made):
            raise UsageError(
                f"`{made[0].title}` asks in its manifest for what it needs", "`--grant` is for plugins without one"
            )
        return Plan(workshop.directory, tuple(self._with_required(workshop, made, there)))

    def plan_update(self, workshop: StagingArea, name: str = "") -> Plan:
        """What is new where the plugins came from. Of several, one that cannot be had is left as it is."""
        there = self.installed()
        chosen = [self.named(name)] if name else there
        if name and chosen[0].locked is None:
            hint = f"`samuel plugin remove {name}`, then add it from where it is"
            raise UsageError(f"samuel.lock does not say where `{name}` came from", hint)
        made: list[PluginCandidate] = []
        left: list[InstalledPlugin] = []
        failed: list[str] = []
        for plugin in chosen:
            if plugin.locked is None:
                continue
            try:
                fresh = self._fresh(workshop, plugin, plugin.locked)
                # With what it requires: one that lacks something must not stop the others either.
                wanted = [self._placed(fresh, there, force=True)] if fresh else []
                made += self._with_required(workshop, wanted, after(there, made))
            except SamuelError as error:
                if name:
                    raise
                failed.append(f"`{plugin.title}` was not updated: {error}")
                continue
            if not fresh:
                left.append(plugin)
        made = [one._replace(ask=not self._is_agreed(one.plugin)) for one in made]
        unlocked = tuple(plugin.title for plugin in chosen if plugin.locked is None)
        return Plan(workshop.directory, tuple(made), tuple(left), unlocked, tuple(failed))

    def plan_install(self, workshop: StagingArea) -> Plan:
        """Exactly what samuel.lock says, digests checked."""
        there = {plugin.title: plugin for plugin in self.installed() if plugin.directory.parent == self.plugins}
        entries = self.locked()
        made = [self._as_locked(workshop, entry, there.get(name)) for name, entry in entries.items()]
        made = [one._replace(ask=not self._is_agreed(one.plugin)) for one in made]
        left = tuple(one.plugin for one in made if not one.staged)
        return Plan(workshop.directory, tuple(made), left, tuple(title for title in there if title not in entries))

    def _fresh(
        self, workshop: StagingArea, plugin: InstalledPlugin, entry: LockedPlugin
    ) -> PluginCandidate | None:
        """The plugin as it is where it came from; None when that is what is here."""
        if entry.link:
            return None
        fresh = workshop.make(source.of_entry(entry, self.base), grants=entry.capabilities)
        same = (fresh.entry.commit, fresh.entry.digest) == (entry.commit, content_digest(plugin.directory))
        return None if same else fresh

    def _as_locked(
        self, workshop: StagingArea, entry: LockedPlugin, plugin: InstalledPlugin | None
    ) -> PluginCandidate:
        origin = source.locked(entry, self.base)
        if plugin is not None and _is_as_locked(plugin, entry, origin):
            return PluginCandidate(origin, plugin, entry, plugin, staged=False)
        made = workshop.make(origin, link=entry.link, grants=entry.capabilities)
        return with_lock(made, entry)._replace(before=plugin)

    def _placed(
        self, candidate: PluginCandidate, there: Iterable[InstalledPlugin], force: bool
    ) -> PluginCandidate:
        """The candidate with what it replaces, if it may be put there."""
        title, name = candidate.title, candidate.plugin.name
        for other in there:
            if other.directory == self.plugins / candidate.source.directory:
                if not force:
                    hint = "`--force` replaces it, `samuel plugin update` gets what is new"
                    raise SamuelError(f"`{title}` is there already", hint)
                candidate = candidate._replace(before=other)
            elif other.name == name or other.title.casefold() == title.casefold():
                raise SamuelError(
                    f"`{other.title}` is called `{name}` as well",
                    f"`samuel plugin remove {other.title}` makes room",
                )
        return candidate

    def _with_required(
        self, workshop: StagingArea, made: Sequence[PluginCandidate], there: Sequence[InstalledPlugin]
    ) -> list[PluginCandidate]:
        """The candidates, and after them whatever they require and is not there yet."""
        made = list(made)
        while True:
            titles = [candidate.title for candidate in made]
            lacking = requirements.missing(after(there, made), titles)
            if not lacking:
                requirements.check(after(there, made), titles)
                return made
            if len(made) >= requirements.MOST:
                raise SamuelError(
                    f"more than {requirements.MOST} plugins would be installed", "install some first"
                )
            owner = next(one for one in made if one.title == lacking[0].owner.title)
            made.append(self._placed(self._required(workshop, owner, lacking[0]), there, force=False))

    def _required(
        self, workshop: StagingArea, owner: PluginCandidate, lacking: requirements.Lacking
    ) -> PluginCandidate:
        # What came over the network must not point to directories of this machine.
        base = Path(owner.source.url) if owner.source.local else None
        try:
            found = workshop.make(source.parse(lacking.source, base or self.base, paths_too=base is not None))
        except SamuelError as error:
            what = f"`{owner.title}` requires `{lacking.wanted.name}`"
            raise SamuelError(f"{what}: {error.message}", error.hint) from None
        if not requirements.answers(found.plugin, lacking.wanted.name):
            called = f"`{lacking.source}` is called `{found.plugin.name}`"
            raise SamuelError(f"`{owner.title}` requires `{lacking.wanted.name}`, and {called}")
        return found._replace(required_by=owner.title)

    # Doing

    def commit(self, plan: Plan, at: str) -> list[InstalledPlugin]:
        """Do it, and give what was put into place.

        Whoever calls this has somebody's word, given `at` some time, for everything that the plan asks for.
        """
        candidates = [self._equipped(candidate) for candidate in plan.candidates]
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
        """Take a plugin away, with its entry and the agreement to it. What it stored in its data_dir stays."""
        plugin = self.named(name)
        if not force and (others := requirements.needing(plugin, self.installed())):
            who = ", ".join(f"`{other}`" for other in others)
            raise SamuelError(f"`{plugin.title}` is required by {who}", "`--force` removes it all the same")
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
        """Write into samuel.lock what the hooks of plugins, by title, answer to.

        A clone without the plugins then knows which guards it lacks.
        """
        with self._held():
            entries = self.locked()
            fresh = {
                title: replace(entry, hooks=hooks[title]) if title in hooks else entry
                for title, entry in entries.items()
            }
            if fresh != entries:
                lock.write(self.lock_file, fresh)

    def _equipped(self, candidate: PluginCandidate) -> PluginCandidate:
        """With what it needs besides its files: packages of its own, the exact image."""
        manifest, entry = candidate.plugin.manifest, candidate.entry
        python: tuple[str, ...] = ()
        image = ""
        try:
            if manifest.dependencies:
                self._watch.step(f"making a Python environment for {candidate.title}")
                python = entry.python or environment.resolve(self._user.environments, manifest.dependencies)
                environment.make(self._user.environments, python)
            if manifest.kind == OCI:
                self._watch.step(f"getting the image of {candidate.title}")
                image = self._image(candidate)
        except SamuelError as error:
            raise SamuelError(f"`{candidate.title}`: {error.message}", error.hint) from None
        return pinned(candidate, image=image, python=python)

    def _image(self, candidate: PluginCandidate) -> str:
        """The image that was locked, or the one that the manifest names now. One that was built has no other home
        than the machine that built it: another machine builds its own from the same files."""
        manifest, cache = candidate.plugin.manifest, self._user.cache
        if locked := candidate.entry.image:
            try:
                return engine.pin(locked, host=os.environ, cache=cache)
            except NotRunnable:
                if not manifest.containerfile or not locked.startswith("sha256:"):
                    raise
        file = candidate.plugin.directory / manifest.containerfile if manifest.containerfile else None
        return engine.pin(manifest.image, containerfile=file, host=os.environ, cache=cache)

    def _refuse_if_taken(self, candidates: Iterable[PluginCandidate]) -> None:
        """Another command may have been here while this one was asking."""
        there = self.installed()
        for candidate in candidates:
            if candidate.staged:
                self._placed(candidate, there, force=candidate.before is not None)

    def _agree(self, candidates: Sequence[PluginCandidate], at: str) -> None:
        """Record the yes to exactly what was read when the plan was made, whatever lies there now."""
        items = []
        for candidate in candidates:
            plugin, content = candidate.plugin, candidate.entry.digest
            digest = agreed_digest(plugin.words, content)
            items.append((plugin.agreement, digest, agreement(plugin).content.encode()))
        self._trust.agree(items, at=at, root=str(self.base))
        self._trust.no_longer_removed([name for one in candidates for name in (one.plugin.name, one.title)])

    def _is_agreed(self, plugin: InstalledPlugin | None) -> bool:
        """Did somebody agree to it as it is? The user's own plugins need no agreement once they are there."""
        if plugin is None or self.location != LOCAL:
            return plugin is not None and plugin.directory.parent == self.plugins
        known = self._trust.load().get(plugin.agreement)
        return known is not None and known.covers(agreement(plugin).digest)

    def _missing(self, entry: LockedPlugin) -> InstalledPlugin:
        place = self.plugins / directory_of(entry.name)
        problem = Problem("it is not installed", str(place), hint="run `samuel plugin install`")
        return InstalledPlugin(place, self.location, Manifest(), entry.capabilities, entry, problems=(problem,))

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The plugins directory, ours alone and in order."""
        if self.location == LOCAL:
            os.close(make_dirs_inside(self.base, paths.PLUGIN_DIRS[0], mode=0o755))
            _ignore(self.base)
        else:
            self.plugins.mkdir(parents=True, exist_ok=True)
        with held(self.plugins / LOCK, wait=PATIENCE, note="samuel plugin"):
            staging.repair(self.plugins, self.lock_file)
            yield


def set_enabled(root: Path, plugin: InstalledPlugin, enabled: bool) -> None:
    """`enabled` in `[plugins.<name>]` of samuel.toml, by the name that the file already uses."""
    file = root / paths.CONFIG
    said = config.load(file).plugins
    name = plugin.title if plugin.title in said and plugin.name not in said else plugin.name
    set_value(file, ("plugins", name, "enabled"), enabled)


def _is_as_locked(plugin: InstalledPlugin, entry: LockedPlugin, origin: PluginSource) -> bool:
    if entry.link or plugin.linked:
        return entry.link and plugin.linked == os.path.realpath(origin.url)
    return bool(entry.digest) and content_digest(plugin.directory) == entry.digest


def _ignore(root: Path) -> None:
    """What is installed is named by samuel.lock and fetched again: nobody commits it."""
    directory = make_dirs_inside(root, paths.HOME, mode=0o755)
    try:
        try:
            lines = read_inside(root, paths.HOME, ".gitignore", limit=MOST_IGNORED).decode(
                errors="surrogateescape"
            )
        except FileNotFoundError:
            lines = ""
        if not any(line.strip() in _ALREADY_IGNORED for line in lines.split("\n")):
            gap = "\n" if lines and not lines.endswith("\n") else ""
            atomic.write_at(directory, ".gitignore", f"{lines}{gap}{IGNORED}\n".encode(errors="surrogateescape"))
    finally:
        os.close(directory)
