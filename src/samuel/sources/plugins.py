"""Handlers of plugins: what a manifest binds, and the executables in a plugin's `hooks/`.

A trusted plugin that has changed, is broken or is gone keeps its handlers' places in the chains, and is refused
there. Its manifest is read before it is trusted: reading runs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

from samuel.base.printable import shell_word
from samuel.config.model import PluginSettings
from samuel.hooks.guards import with_new_guards
from samuel.hooks.handler import (
    Handler,
    HandlerMode,
    HandlerStatus,
    Origin,
    Package,
    unavailable,
)
from samuel.plugins.environment import interpreter
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.lock import LockedHook, LockedPlugin
from samuel.plugins.model import OCI, PYTHON, SKILL, WASM, Binding
from samuel.runtimes.wasm import MISSING
from samuel.sources import hook_files
from samuel.sources.declarations import DeclarationCache, FileDeclarations, HandlerDeclaration
from samuel.trust.content import NO_CONTENT, TrustedContent
from samuel.trust.permit import Permit

AGREEMENT = "plugin:"
RUNTIMES = {SKILL: "exec", PYTHON: "python", WASM: "wasm", OCI: "oci"}
_DEFAULT_SETTINGS = PluginSettings()


def package_of(plugin: InstalledPlugin, environments: Path) -> Package:
    """What the plugin's handlers share. The directory of a linked plugin is the real one, which its walls open."""
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
    """The handlers of these plugins, each with its status."""
    handlers: list[Handler] = []
    for plugin in plugins:
        plugin_settings = settings.get(plugin.name) or settings.get(plugin.title) or _DEFAULT_SETTINGS
        package = package_of(plugin, environments)
        own_handlers = _of_plugin(plugin, package, plugin_settings, origin, answers, permit)
        config = {**plugin.manifest.config, **plugin_settings.config}
        handlers += [
            replace(handler, package=package, config=config, declared=at)
            for at, handler in enumerate(own_handlers)
        ]
    return handlers


def gone(
    agreed: Sequence[str], installed_plugins: Iterable[InstalledPlugin], answers: DeclarationCache
) -> list[Handler]:
    """The handlers of trusted plugins that are gone: refused in their places until the user confirms that."""
    present = {plugin.agreement for plugin in installed_plugins}
    why = "it was trusted and is gone; `samuel plugin install` restores it, `samuel trust` confirms its removal"
    return [
        handler
        for name in agreed
        if name.startswith(AGREEMENT) and name not in present
        for handler in _remembered(name, Origin.PROJECT_PLUGIN, answers, HandlerStatus.BROKEN, why)
    ]


def absent(entries: Iterable[LockedPlugin], settings: Mapping[str, PluginSettings]) -> list[Handler]:
    """Plugins of samuel.lock that are not installed, as in a fresh clone: their guards are refused.

    The lock names their events. If it does not, they could be for any event.
    """
    why = "it is in samuel.lock and not installed; run `samuel plugin install`"
    handlers: list[Handler] = []
    for entry in entries:
        hooks = (LockedHook(event="", name=entry.name),) if entry.hooks is None else entry.hooks
        owners = {entry.name, *(_owner(entry, hook) for hook in hooks)}
        if any(name in settings and not settings[name].enabled for name in owners):
            continue
        for at, hook in enumerate(hooks):
            fields = {"event": hook.event, "owner": _owner(entry, hook), "order": hook.order, "role": hook.role}
            broken = HandlerStatus.BROKEN
            handlers.append(unavailable(hook.name, Origin.PROJECT_PLUGIN, broken, why, **fields, declared=at))
    return handlers


def _owner(entry: LockedPlugin, hook: LockedHook) -> str:
    """The plugin's name, which the names of its hooks begin with: that of its manifest, or the one in the lock."""
    if hook.name == entry.name or hook.name.startswith(f"{entry.name}/"):
        return entry.name
    return hook.name.partition("/")[0]


def _of_plugin(
    plugin: InstalledPlugin,
    package: Package,
    plugin_settings: PluginSettings,
    origin: Origin,
    answers: DeclarationCache,
    permit: Permit,
) -> list[Handler]:
    if not plugin_settings.enabled:
        why = f"`enabled = false` in samuel.toml; `samuel plugin enable {shell_word(plugin.title)}` turns it on"
        places = _remembered(plugin.agreement, origin, answers, HandlerStatus.DISABLED, why)
        return places or _refused(plugin, origin, HandlerStatus.DISABLED, why)
    untrusted = permit.package(package) if origin is Origin.PROJECT_PLUGIN else ""
    problems = "; ".join(str(problem) for problem in plugin.problems)
    if why := untrusted or problems or _missing_part(plugin, package):
        status = HandlerStatus.UNTRUSTED if untrusted else HandlerStatus.BROKEN
        places = _remembered(plugin.agreement, origin, answers, status, why)
        now = _refused(plugin, origin, status, why)
        if plugin.problems:  # what it declares now cannot be read
            places = [replace(handler, can_declare_role=False) for handler in places]
        return with_new_guards(places, now) if places else now
    bound = _bound(plugin, package, origin)
    files = _files(plugin, package, origin, answers, permit, {handler.path for handler in bound})
    handlers = [*bound, *files]
    answers.keep(plugin.agreement, _answer(handlers))
    return handlers


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
        serial=binding.serial,
        background=binding.background,
        role=binding.role,
        can_declare_role=True,
        mode=binding.mode,
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
    permit: Permit,
    bound: set[str],
) -> list[Handler]:
    directory = os.path.join(package.directory, "hooks")
    if not os.path.isdir(directory):
        return []

    def content(files: tuple[str, ...]) -> TrustedContent:
        return permit.package_content(package) if origin is Origin.PROJECT_PLUGIN else NO_CONTENT

    check = hook_files.DirectoryCheck(lambda _: {}, content)
    handlers = hook_files.in_directory(directory, origin, answers, check, permit.digests, package)
    return [
        replace(handler, name=f"{plugin.name}/{handler.name}", owner=plugin.name)
        for handler in handlers
        if handler.path not in bound
    ]


def _missing_part(plugin: InstalledPlugin, package: Package) -> str:
    """What a plugin needs apart from its files and is missing; "" if it has everything."""
    again = f"`samuel plugin install` or `samuel plugin add --force` gets it ({plugin.title})"
    if plugin.manifest.kind == OCI and not package.image:
        return f"samuel.lock does not say which image it runs; {again}"
    if plugin.manifest.kind == WASM and find_spec("wasmtime") is None:
        return MISSING
    if plugin.manifest.dependencies and not package.python:
        return f"its Python environment is missing; {again}"
    return ""


def _refused(plugin: InstalledPlugin, origin: Origin, status: HandlerStatus, why: str) -> list[Handler]:
    """A plugin that must not run, so that its files cannot be asked: the handlers of its manifest, refused.

    If its files may declare more, or there are no such handlers, an entry for lists too.
    """
    package = Package(name=plugin.name, directory=str(plugin.directory), kind=plugin.manifest.kind)
    # `mode` of a manifest without consent does not count: its guards deny.
    places = [
        replace(handler, status=status, reason=why, mode=HandlerMode.ENFORCE)
        for handler in _bound(plugin, package, origin)
    ]
    more_hooks = _may_have_more_hooks(plugin, {handler.path for handler in places})
    if places and not more_hooks:
        return places
    path = str(plugin.directory)
    return [*places, unavailable(plugin.name, origin, status, why, path=path, hookless=not more_hooks)]


def _may_have_more_hooks(plugin: InstalledPlugin, bound: set[str]) -> bool:
    """Whether it may have hooks that its manifest does not bind: only the files can tell their events."""
    files = hook_files.candidates(os.path.join(plugin.directory, "hooks"))
    return bool(plugin.problems) or not bound.issuperset(files)


# The places a plugin's handlers had when it last worked


def _answer(handlers: Sequence[Handler]) -> FileDeclarations:
    places = [
        HandlerDeclaration(
            handler.event,
            handler.name,
            order=handler.order,
            strict=handler.strict,
            role=handler.role,
            mode=handler.mode,
            background=handler.background,
            can_declare_role=handler.can_declare_role,
        )
        for handler in handlers
        if handler.event
    ]
    return FileDeclarations((), tuple(places), owner=handlers[0].owner if handlers else "")


def _remembered(
    name: str, origin: Origin, answers: DeclarationCache, status: HandlerStatus, why: str
) -> list[Handler]:
    last = answers.last(name)
    if last is None:
        return []
    places = [hook_files.declared_handler(place, last.owner, origin, at) for at, place in enumerate(last.declared)]
    return [
        replace(
            handler,
            name=place.function,
            runtime="exec",
            entry="",
            can_declare_role=place.can_declare_role,
            status=status,
            reason=why,
        )
        for handler, place in zip(places, last.declared, strict=True)
    ]
