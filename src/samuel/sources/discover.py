"""Where handlers are found, and which of two with the same name is active.

Files are listed, and only trusted ones are asked for their events: nothing runs without the user's agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base import paths
from samuel.config.model import PluginSettings
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.lock import LockedPlugin
from samuel.runtimes.python import PythonRuntime
from samuel.sources import distributions, hook_files, plugins
from samuel.sources.client_hooks.find import ClientHooks
from samuel.sources.declarations import DeclarationCache
from samuel.sources.hook_files import DirectoryCheck
from samuel.sources.index import HookIndex
from samuel.sources.yaml_hook import REGISTRY
from samuel.sources.yaml_hooks import YamlHooks
from samuel.trust.content import NO_CONTENT
from samuel.trust.permit import Permit


class DiscoveryContext(NamedTuple):
    """What the sources search, and with which settings."""

    root: Path
    home: Path
    distributions: Sequence[str]
    plugins: Callable[[], Sequence[InstalledPlugin]]  # the project's
    missing_plugins: Callable[[], Sequence[LockedPlugin]]  # those in samuel.lock that are not installed
    user_plugins: Callable[[], Sequence[InstalledPlugin]]
    plugin_settings: Mapping[str, PluginSettings]
    environments: Path  # of Python plugins
    yaml_hooks: YamlHooks
    client_hooks: ClientHooks
    permit: Permit
    python: PythonRuntime
    project_answers: DeclarationCache
    user_answers: DeclarationCache
    hook_index: HookIndex


def project_hooks(context: DiscoveryContext) -> list[Handler]:
    """Hook files of Samuel, YAML hooks, hook files of kodelet and of agents; then those that are gone."""
    permit, answers, root = context.permit, context.project_answers, context.root

    def in_files(directory: str) -> list[Handler]:
        where = str(root / directory)
        check = DirectoryCheck(permit.objections, permit.content_of)
        return hook_files.in_directory(where, Origin.PROJECT, answers, check, permit.digests)

    ours, theirs = paths.HOOK_DIRS
    return [
        *in_files(ours),
        *context.yaml_hooks.find(),
        *in_files(theirs),
        *context.client_hooks.of_project(),
        *hook_files.gone(root, Origin.PROJECT, answers, permit.gone),
        *context.yaml_hooks.gone(),
    ]


def project_plugins(context: DiscoveryContext) -> list[Handler]:
    installed_plugins, answers, permit = context.plugins(), context.project_answers, context.permit
    handlers = plugins.find(
        installed_plugins, Origin.PROJECT_PLUGIN, context.plugin_settings, context.environments, answers, permit
    )
    gone = plugins.gone(permit.agreed_names(), installed_plugins, answers)
    owners = {handler.owner for handler in gone}
    absent = plugins.absent(context.missing_plugins(), context.plugin_settings)
    return [*handlers, *gone, *(handler for handler in absent if handler.owner not in owners)]


def user_plugins(context: DiscoveryContext) -> list[Handler]:
    installed_plugins = context.user_plugins()
    return plugins.find(
        installed_plugins,
        Origin.USER_PLUGIN,
        context.plugin_settings,
        context.environments,
        context.user_answers,
        context.permit,
    )


def user_hooks(context: DiscoveryContext) -> list[Handler]:
    """The user's own hooks, which need no agreement; none if the project is the home directory."""
    if context.home.resolve() == context.root:
        return []
    in_files = [
        handler
        for directory in paths.HOOK_DIRS
        for handler in hook_files.in_directory(
            str(context.home / directory),
            Origin.USER,
            context.user_answers,
            DirectoryCheck(lambda directory: {}, lambda files: NO_CONTENT),
            context.permit.digests,
        )
    ]
    return [*in_files, *context.client_hooks.of_user()]


def installed(context: DiscoveryContext) -> list[Handler]:
    return distributions.find(context.distributions, context.python, context.permit.text, context.project_answers)


# Highest precedence first. A new source is a function and a line here.
FILES: tuple[Callable[[DiscoveryContext], list[Handler]], ...] = (
    project_hooks,
    project_plugins,
    user_hooks,
    user_plugins,
)
OTHERS: tuple[Callable[[DiscoveryContext], list[Handler]], ...] = (installed,)


def discover(context: DiscoveryContext, in_process: Sequence[Handler] = ()) -> tuple[Handler, ...]:
    """All handlers that are found, whatever their status. `in_process` are those that live in this process."""
    files = context.hook_index.recall(context.permit)
    if files is None:
        files = _shadowed([handler for source in FILES for handler in source(context)])
        registry_folders = (
            [context.root / folder for folder in REGISTRY] if context.yaml_hooks.asked_abilities else []
        )
        context.hook_index.remember(files, context.permit, registry_folders)
    return (*files, *(handler for source in OTHERS for handler in source(context)), *in_process)


def _shadowed(handlers: Sequence[Handler]) -> list[Handler]:
    """A hook shadows those of the same full name with lower precedence, unless it does not work.

    The full name of a plugin's hook begins with that of the plugin, so it never hides the plugin's other hooks.
    """
    first_of_name: dict[tuple[bool, str], str] = {}
    result = []
    for handler in handlers:
        if handler.status is HandlerStatus.ACTIVE:
            package = handler.package
            where = (handler.file or handler.path) if package is None else package.directory
            # A file with several functions is one hook.
            name = handler.owner if package is None else handler.name.partition(":")[0]
            first = first_of_name.setdefault((package is not None, name), where)
            if first != where:
                why = f"`{first}` has the same name and comes first"
                handler = replace(handler, status=HandlerStatus.SHADOWED, reason=why)
        result.append(handler)
    return result
