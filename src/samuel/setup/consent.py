"""What in a project could run, and what of it the user trusts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.clients.hook_formats.client_hook import AGREEMENT
from samuel.config.model import Config
from samuel.files.inside import refuse_links
from samuel.plugins.installed import texts as plugin_texts
from samuel.plugins.installed import titled
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.routing.abilities import registry
from samuel.routing.abilities.execution import trust as ability_trust
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources import yaml_hooks
from samuel.sources.client_hooks import find as client_hooks
from samuel.sources.client_hooks.find import LastTrusted
from samuel.sources.declarations import stored_declarations
from samuel.sources.distributions import look_up, trust_name
from samuel.sources.yaml_cache import YamlHookCache
from samuel.tasks.store import TaskStore
from samuel.trust import commands
from samuel.trust.commands import requested_checks
from samuel.trust.items import TrustItem, review, show
from samuel.trust.store import trust_of_project

PENDING = ("new", "changed", "gone")


class Consent:
    """Reads and changes what the user trusts in one project. It runs nothing, so the project is not opened."""

    def __init__(self, root: Path) -> None:
        refuse_links(root, paths.HOME, *paths.HOOK_DIRS, ".kodelet", paths.SYSTEM, paths.YAML_HOOKS)
        self.root = root
        self._state = paths.User.from_environment().state
        self._store = trust_of_project(self._state, root)

    def items(self) -> list[TrustItem]:
        """Everything that could run in the project. Each item holds the bytes of its digest."""
        settings = config.load(self.root / paths.CONFIG)
        listed = look_up(settings.distributions)
        texts = [
            (trust_name(distribution.name), distribution.digest, distribution.text)
            for distribution in listed
            if distribution.text
        ]
        abilities = registry.load(self.root, paths.User.from_environment().cache)
        own = [
            *(*texts, *commands.texts(settings), *self._task_checks(settings)),
            *(*plugin_texts(self.root), *ability_trust.texts(abilities)),
            *client_hooks.texts(self.root, settings.import_hooks),
        ]
        files = [
            *yaml_hooks.files(self.root, SHIPPED_HOOKS),
            *ability_trust.files(self.root, abilities).items(),
            *client_hooks.files(self.root, settings.import_hooks).items(),
        ]
        return review(self.root, self._store.load(), own, files)

    def _task_checks(self, settings: Config) -> list[commands.CommandText]:
        """The commands that the tasks of each methodology bring along."""
        texts = []
        requested = requested_checks(self._state, self._store.key)
        for name in settings.names:
            state = paths.Project(self.root).state(name, several=settings.has_several_methodologies)
            try:
                tasks = TaskStore(state, paths.User.from_environment().record(state)).load()
            except SamuelError:  # no tasks, or none that a run could use either
                texts.append(commands.task_checks(name, requested.get(name, ())))
                continue
            texts.append(commands.task_checks(name, ((task.id, task.checks) for task in tasks)))
        return [text for text in texts if text]

    def pending(self) -> list[TrustItem]:
        return [item for item in self.items() if item.state in PENDING]

    def text(self, item: TrustItem) -> str:
        """What the user reads before trusting an item."""
        head = f"{safe(item.name, keep='')}  ({item.state}, sha256 {item.digest or 'unreadable'})"
        body = show(item, self._store.load(), self._store).rstrip("\n")
        return "\n".join([head, *(f"    {line}" for line in body.split("\n")), ""])

    def agree(self, items: Iterable[TrustItem], *, instead: bool = False) -> None:
        """Trust the present content of these items; with `instead`, no longer their earlier content."""
        refuse_inside_a_run()
        items = list(items)
        here = [(item.name, item.digest, item.content) for item in items if item.state != "gone"]
        self._store.agree(here, at=iso(SystemClock().now()), root=str(self.root), instead=instead)
        self._store.no_longer_removed(
            [name for item in items if item.state != "gone" for name in self._called(item.name)]
        )
        gone = [item.name for item in items if item.state == "gone"]
        if gone:
            self._store.forget(gone, {called for name in gone for called in self._called(name)})

    def _called(self, name: str) -> set[str]:
        """The names that samuel.toml may use for the handlers of an item."""
        if name.startswith("plugin:"):
            directory = name.removeprefix("plugin:")
            last = stored_declarations(self._state / "declarations" / self._store.key).get(name)
            return {titled(directory), *([last.owner] if last and last.owner else [])}
        if name.startswith(AGREEMENT):
            last_trusted = LastTrusted(self._state / "client-hooks" / self._store.key)
            return {hook.name for hook in last_trusted.of(str(self.root / name.removeprefix(AGREEMENT)))}
        file = Path(name)
        if str(file.parent) == paths.YAML_HOOKS:
            read = YamlHookCache(SHIPPED_HOOKS, self._state / "yaml" / self._store.key).last(str(self.root / name))
            hooks = (read.hook, read.last_trusted) if read else ()
            return {file.stem, *(hook.id for hook in hooks if hook)}
        return {file.name, file.stem} if str(file.parent) in paths.HOOK_DIRS else set()

    def agree_to(self, contents: Mapping[str, bytes], *, instead: bool = False) -> None:
        """Trust files that a command wrote, if they still have the content it wrote."""
        self.agree((item for item in self.items() if contents.get(item.name) == item.content), instead=instead)

    def revoke(self, names: Sequence[str] | None) -> list[str]:
        return self._store.revoke(names)


def readable(item: TrustItem) -> bool:
    """Can its content be read? A pipe, a broken link or a file without permission cannot be trusted."""
    return bool(item.digest)
