"""Where handlers are found, and which of two with the same name is heard.

Nothing here is run that its owner did not agree to: files are listed, and only trusted ones are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel import paths
from samuel.config.model import PluginSettings
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.lock import LockedPlugin
from samuel.runtimes.python import PythonRuntime
from samuel.sources import distributions, hook_files, plugins
from samuel.sources.declarations import DeclarationCache
from samuel.sources.environment import REGISTRY
from samuel.sources.index import HookIndex
from samuel.sources.yaml_hooks import YamlHooks
from samuel.trust.permit import Permit


class DiscoveryContext(NamedTuple):
    """What the sources look at."""

    root: Path
    home: Path
    distributions: Sequence[str]
    plugins: Callable[[], Sequence[InstalledPlugin]]  # the project's
    missing_plugins: Callable[[], Sequence[LockedPlugin]]  # those that samuel.lock names and are not there
    user_plugins: Callable[[], Sequence[InstalledPlugin]]
    plugin_settings: Mapping[str, PluginSettings]
    environments: Path  # of Python plugins
    yaml_hooks: YamlHooks
    permit: Permit
    python: PythonRuntime
    project_answers: DeclarationCache
    user_answers: DeclarationCache
    looked_through: HookIndex


def project_hooks(place: DiscoveryContext) -> list[Handler]:
    """Hook files of ours, YAML hooks, hook files of others; then what of them was agreed to and is gone."""
    permit, answers, root = place.permit, place.project_answers, place.root

    def in_files(directory: str) -> list[Handler]:
        where = str(root / directory)
        return hook_files.in_directory(where, Origin.PROJECT, answers, permit.objections, permit.digests)

    ours, theirs = paths.HOOK_DIRS
    return [
        *in_files(ours),
        *place.yaml_hooks.find(),
        *in_files(theirs),
        *hook_files.gone(root, Origin.PROJECT, answers, permit.gone),
        *place.yaml_hooks.gone(),
    ]


def project_plugins(place: DiscoveryContext) -> list[Handler]:
    there, answers, permit = place.plugins(), place.project_answers, place.permit
    found = plugins.find(there, Origin.PROJECT_PLUGIN, place.plugin_settings, place.environments, answers, permit)
    gone = plugins.gone(permit.agreed_names(), there, answers)
    owners = {handler.owner for handler in gone}
    absent = plugins.absent(place.missing_plugins(), place.plugin_settings)
    return [*found, *gone, *(handler for handler in absent if handler.owner not in owners)]


def user_plugins(place: DiscoveryContext) -> list[Handler]:
    there = place.user_plugins()
    return plugins.find(
        there,
        Origin.USER_PLUGIN,
        place.plugin_settings,
        place.environments,
        place.user_answers,
        place.permit,
    )


def user_hooks(place: DiscoveryContext) -> list[Handler]:
    """The user's own need no agreement. A project that *is* the home directory has no second set of them."""
    if place.home.resolve() == place.root:
        return []
    return [
        handler
        for directory in paths.HOOK_DIRS
        for handler in hook_files.in_directory(
            str(place.home / directory),
            Origin.USER,
            place.user_answers,
            lambda directory: {},
            place.permit.digests,
        )
    ]


def installed(place: DiscoveryContext) -> list[Handler]:
    return distributions.find(place.distributions, place.python, place.permit.text, place.project_answers)


# Highest precedence first. A new source is a function and a line here.
FILES: tuple[Callable[[DiscoveryContext], list[Handler]], ...] = (
    project_hooks,
    project_plugins,
    user_hooks,
    user_plugins,
)
OTHERS: tuple[Callable[[DiscoveryContext], list[Handler]], ...] = (installed,)


def discover(place: DiscoveryContext, given: Sequence[Handler] = ()) -> tuple[Handler, ...]:
    """Everything found, whatever its state. `given` are the handlers that live in this process."""
    files = place.looked_through.recall(place.permit)
    if files is None:
        files = _shadowed([handler for source in FILES for handler in source(place)])
        also = [place.root / folder for folder in REGISTRY] if place.yaml_hooks.asked_abilities else []
        place.looked_through.remember(files, place.permit, also)
    return (*files, *(handler for source in OTHERS for handler in source(place)), *given)


def _shadowed(found: Sequence[Handler]) -> list[Handler]:
    """A hook or a plugin hides those of the same name further down. One that does not work hides nothing."""
    heard: dict[tuple[bool, str], str] = {}
    result = []
    for handler in found:
        if handler.status is HandlerStatus.ACTIVE:
            package = handler.package
            where = (handler.file or handler.path) if package is None else package.directory
            first = heard.setdefault((package is not None, handler.owner), where)
            if first != where:
                why = f"`{first}` has the same name and comes first"
                handler = replace(handler, status=HandlerStatus.SHADOWED, reason=why)
        result.append(handler)
    return result
