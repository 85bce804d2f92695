"""Handlers of plugins: what a manifest binds, and the executables in a plugin's `hooks/`.

A plugin that was agreed to and has changed, is broken or is gone keeps its handlers' places in the chains, and is
refused there. Its manifest may be read before anybody agreed: reading runs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

from samuel.config.model import PluginSettings
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Role
from samuel.hooks.package import Package
from samuel.plugins.environment import interpreter
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.lock import LockedHook, LockedPlugin
from samuel.plugins.model import OCI, PYTHON, SKILL, WASM, Binding
from samuel.runtimes.wasm import MISSING
from samuel.sources import hook_files
from samuel.sources.declarations import DeclarationCache, FileDeclarations, HandlerDeclaration
from samuel.trust.digests import Digests
from samuel.trust.permit import Permit

AGREEMENT = "plugin:"
RUNTIMES = {SKILL: "exec", PYTHON: "python", WASM: "wasm", OCI: "oci"}
_NOTHING_SAID = PluginSettings()


def package_of(plugin: InstalledPlugin, environments: Path) -> Package:
    """What the plugin's handlers share. A linked one is where it really is: that is what its walls let in."""
    locked = plugin.locked
    return Package(
        name=plugin.name,
        directory=plugin.linked or str(plugin.directory),
        kind=plugin.manifest.kind,
        version=plugin.manifest.version,
        has_manifest=bool(plugin.manifest.file),
        grants=plugin.grants,
        agreement=plugin.agreement,
        agreed_text=plugin.words,
        linked=bool(plugin.linked),
        image=locked.image if locked else "",
        serve=plugin.manifest.serve,
        python=interpreter(environments, locked.python) if locked and locked.python else "",
    )


def find(
    plugins: Iterable[InstalledPlugin],
    origin: Origin,
    settings: Mapping[str, PluginSettings],
    environments: Path,
    answers: DeclarationCache,
    permit: Permit,
) -> list[Handler]:
    """The handlers of these plugins, each with its state."""
    handlers: list[Handler] = []
    for plugin in plugins:
        said = settings.get(plugin.name) or settings.get(plugin.title) or _NOTHING_SAID
        package = package_of(plugin, environments)
        found = _of_one(plugin, package, said, origin, answers, permit)
        config = {**plugin.manifest.config, **said.config}
        handlers += [replace(one, package=package, config=config, declared=at) for at, one in enumerate(found)]
    return handlers


def gone(agreed: Sequence[str], there: Iterable[InstalledPlugin], answers: DeclarationCache) -> list[Handler]:
    """Plugins that were agreed to and are not there: missing at their places until somebody agrees to that."""
    present = {plugin.agreement for plugin in there}
    why = "it was agreed to and is gone; `samuel plugin install` brings it back, `samuel trust` lets it go"
    return [
        handler
        for name in agreed
        if name.startswith(AGREEMENT) and name not in present
        for handler in _remembered(name, Origin.PROJECT_PLUGIN, answers, HandlerStatus.BROKEN, why)
    ]


def absent(entries: Iterable[LockedPlugin], settings: Mapping[str, PluginSettings]) -> list[Handler]:
    """Plugins that samuel.lock names and that were never here, as in a fresh clone: their guards are refused.

    The lock says what they answer to. Where it does not, they could be for any event.
    """
    why = "samuel.lock names it, and it is not installed; run `samuel plugin install`"
    handlers: list[Handler] = []
    for entry in entries:
        hooks = (LockedHook(event="", name=entry.name),) if entry.hooks is None else entry.hooks
        owners = {entry.name, *(_owner(entry, hook) for hook in hooks)}
        if any(name in settings and not settings[name].enabled for name in owners):
            continue
        handlers += [
            Handler(
                name=hook.name,
                event=hook.event,
                origin=Origin.PROJECT_PLUGIN,
                runtime="exec",
                owner=_owner(entry, hook),
                order=hook.order,
                role=hook.role,
                declared=at,
                status=HandlerStatus.BROKEN,
                reason=why,
            )
            for at, hook in enumerate(hooks)
        ]
    return handlers


def _owner(entry: LockedPlugin, hook: LockedHook) -> str:
    """The name of the plugin, which its hooks' names begin with: that of its manifest, or the one in the lock."""
    if hook.name == entry.name or hook.name.startswith(f"{entry.name}/"):
        return entry.name
    return hook.name.partition("/")[0]


def _of_one(
    plugin: InstalledPlugin,
    package: Package,
    said: PluginSettings,
    origin: Origin,
    answers: DeclarationCache,
    permit: Permit,
) -> list[Handler]:
    if not said.enabled:
        why = f"`enabled = false` in samuel.toml; `samuel plugin enable {plugin.title}` turns it on"
        places = _remembered(plugin.agreement, origin, answers, HandlerStatus.DISABLED, why)
        return places or _in_words(plugin, origin, HandlerStatus.DISABLED, why)
    untrusted = permit.package(package) if origin is Origin.PROJECT_PLUGIN else ""
    if why := untrusted or "; ".join(str(problem) for problem in plugin.problems) or _lacking(plugin, package):
        status = HandlerStatus.UNTRUSTED if untrusted else HandlerStatus.BROKEN
        places = _remembered(plugin.agreement, origin, answers, status, why)
        return places or _in_words(plugin, origin, status, why)
    bound = _bound(plugin, package, origin)
    files = _files(plugin, package, origin, answers, permit.digests, {one.path for one in bound})
    found = [*bound, *files]
    answers.keep(plugin.agreement, _answer(found))
    return found


def _bound(plugin: InstalledPlugin, package: Package, origin: Origin) -> list[Handler]:
    return [
        _handler(plugin, package, origin, binding) for binding in plugin.manifest.bindings if plugin.manifest.file
    ]


def _handler(plugin: InstalledPlugin, package: Package, origin: Origin, binding: Binding) -> Handler:
    path, entry, hook = _target(plugin, package, binding.entry)
    return Handler(
        name=f"{plugin.name}/{hook}",
        event=binding.event,
        origin=origin,
        runtime=RUNTIMES[plugin.manifest.kind],
        owner=plugin.name,
        path=path,
        entry=entry,
        order=binding.order,
        strict=binding.strict,
        timeout=binding.timeout,
        role=binding.role,
        package=package,
    )


def _target(plugin: InstalledPlugin, package: Package, entry: str) -> tuple[str, str, str]:
    """The file, what to call in it, and the hook's name."""
    kind, module = plugin.manifest.kind, plugin.manifest.module
    if kind == SKILL:  # a script, with the payload on its stdin and no argument
        return os.path.join(package.directory, entry), "", entry.removeprefix("hooks/")
    if kind == OCI:
        return "", entry, entry
    if kind == PYTHON:
        file, _, function = entry.rpartition(":")
        return os.path.join(package.directory, file or module), function, function
    return os.path.join(package.directory, module), entry, entry


def _files(
    plugin: InstalledPlugin,
    package: Package,
    origin: Origin,
    answers: DeclarationCache,
    digests: Digests,
    bound: set[str],
) -> list[Handler]:
    directory = os.path.join(package.directory, "hooks")
    if not os.path.isdir(directory):
        return []
    found = hook_files.in_directory(directory, origin, answers, lambda _: {}, digests, package)
    return [
        replace(one, name=f"{plugin.name}/{one.name}", owner=plugin.name) for one in found if one.path not in bound
    ]


def _lacking(plugin: InstalledPlugin, package: Package) -> str:
    """What it needs besides its files, and is not there."""
    again = f"`samuel plugin install` or `samuel plugin add --force` gets it ({plugin.title})"
    if plugin.manifest.kind == OCI and not package.image:
        return f"samuel.lock does not say which image it runs; {again}"
    if plugin.manifest.kind == WASM and find_spec("wasmtime") is None:
        return MISSING
    if plugin.manifest.dependencies and not package.python:
        return f"its Python environment is missing; {again}"
    return ""


def _in_words(plugin: InstalledPlugin, origin: Origin, status: HandlerStatus, why: str) -> list[Handler]:
    """The places that its manifest asks for, and one line for hooks that nobody asked: it is always listed."""
    package = Package(name=plugin.name, directory=str(plugin.directory), kind=plugin.manifest.kind)
    places = [replace(one, status=status, reason=why) for one in _bound(plugin, package, origin)]
    unasked = _unasked(plugin, {one.path for one in places})
    if places and not unasked:
        return places
    listed = Handler(
        name=plugin.name,
        event="",
        origin=origin,
        runtime="exec",
        owner=plugin.name,
        path=str(plugin.directory),
        status=status,
        reason=why,
        hookless=not unasked,
    )
    return [*places, listed]


def _unasked(plugin: InstalledPlugin, bound: set[str]) -> bool:
    """Whether it may have hooks that its manifest does not bind: only the files themselves know their events."""
    files = hook_files.candidates(os.path.join(plugin.directory, "hooks"))
    return bool(plugin.problems) or not bound.issuperset(files)


# The places a plugin's handlers had when it last worked


def _answer(found: Sequence[Handler]) -> FileDeclarations:
    places = [
        HandlerDeclaration(one.event, one.name, order=one.order, strict=one.strict, role=one.role)
        for one in found
        if one.event
    ]
    return FileDeclarations((), tuple(places), owner=found[0].owner if found else "")


def _remembered(
    name: str, origin: Origin, answers: DeclarationCache, status: HandlerStatus, why: str
) -> list[Handler]:
    last = answers.last(name)
    if last is None:
        return []
    return [
        Handler(
            name=place.function,
            event=place.event,
            origin=origin,
            runtime="exec",
            owner=last.owner,
            order=place.order,
            strict=place.strict,
            role=Role(place.role) if place.role else None,
            declared=at,
            status=status,
            reason=why,
        )
        for at, place in enumerate(last.declared)
    ]
