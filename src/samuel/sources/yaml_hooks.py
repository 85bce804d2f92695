"""The hooks of a project that are declared in `.system/hooks/*.yaml`, each with its state.

Reading a file runs nothing, so it may be read before anybody agreed to it. What it names is run only when its
owner agreed to the file and to those scripts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from samuel import paths
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.printable import file_name
from samuel.sources.environment import Environment
from samuel.sources.shipped_hook import ShippedHooks
from samuel.sources.yaml_cache import YamlHookCache, YamlHookFile
from samuel.sources.yaml_command import command, lacking
from samuel.sources.yaml_hook import YamlHook
from samuel.trust.items import with_neighbours
from samuel.trust.permit import Permit

GONE = "it was agreed to and is gone; bring it back, or run `samuel trust` to agree that it is gone"


class YamlHooks:
    """The YAML hooks of one project, in one environment (dev, prod, …)."""

    def __init__(
        self,
        root: Path,
        environment: Environment,
        known: YamlHookCache,
        permit: Permit,
    ) -> None:
        self._root = root
        self._environment = environment
        self._known = known
        self._permit = permit

    def find(self) -> list[Handler]:
        """In the order of the files' names."""
        objections = cache(self._permit.objections)  # of each directory of scripts once, not once a hook
        found: list[tuple[YamlHookFile, list[Handler]]] = []
        agreed: list[tuple[str, YamlHook | None]] = []
        for read in self._known.look(self._root):
            if read.hook is None:
                why = "; ".join(str(problem) for problem in read.problems)
                found.append((read, self._out_of_order(read, HandlerStatus.BROKEN, why)))
                continue
            handlers = self._handlers(read.hook, read)
            untrusted = self._permit.declared(handlers[0], objections)
            if not untrusted:
                agreed.append((read.path, read.hook if read.hook.enabled else None))
            found.append((read, self._judged(read.hook, read, handlers, untrusted)))
        self._known.agreed(agreed)
        return self._heard_once(found)

    @property
    def asked_abilities(self) -> bool:
        """Whether what was found depends on the registry of abilities."""
        return self._environment.asked_abilities

    def gone(self) -> list[Handler]:
        """Those that took part and whose files are not there any more."""
        there = (self._known.last(path) for path in self._permit.gone(str(self._root / paths.YAML_HOOKS)))
        return [
            handler
            for last in there
            if last is not None and self._good(last)
            for handler in self._out_of_order(last, HandlerStatus.BROKEN, GONE)
        ]

    def _judged(
        self, hook: YamlHook, read: YamlHookFile, handlers: list[Handler], untrusted: str
    ) -> list[Handler]:
        missing = lacking(command(hook, self._root))
        refused = f"{untrusted}; besides, {missing}" if untrusted and missing else untrusted
        if untrusted and self._good(read):
            # Whatever was changed, also if it was switched off: until that is agreed to it stays, refused.
            return self._out_of_order(read, HandlerStatus.UNTRUSTED, refused)
        if idle := hook.switched_off(read.file) or self._environment.elsewhere(hook):
            return _with(handlers, HandlerStatus.DISABLED, idle)
        here = self._here(hook, handlers)
        if untrusted:
            return _with(here, HandlerStatus.UNTRUSTED, refused)
        return _with(here, HandlerStatus.BROKEN, missing) if missing else here

    def _good(self, read: YamlHookFile) -> YamlHook | None:
        """What it was when it last was agreed to, if it took part in this environment."""
        good = read.good
        if good is None or good.switched_off(read.file) or self._environment.elsewhere(good):
            return None
        return good

    def _here(self, hook: YamlHook, handlers: list[Handler]) -> list[Handler]:
        """Those that take part in this environment."""
        return [one for one in handlers if self._environment.holds(hook, one.event)]

    def _handlers(self, hook: YamlHook, read: YamlHookFile) -> list[Handler]:
        """One for each of its events."""
        runs = command(hook, self._root)
        return [
            Handler(
                name=hook.id,
                event=event,
                origin=Origin.PROJECT,
                owner=hook.id,
                file=read.file,
                digest=read.digest,
                order=hook.order,
                timeout=hook.timeout,
                role=hook.role,
                blocking=hook.blocking,
                match=hook.match,
                config=hook.config,
                declared=position,
                **runs,
            )
            for position, event in enumerate(hook.events)
        ]

    def _out_of_order(self, read: YamlHookFile, status: HandlerStatus, why: str) -> list[Handler]:
        """Not to be run: in the place it had when it last took part, or else just listed."""
        good = self._good(read)
        if good is None:
            return [_listed(read, status, why)]
        return _with(self._here(good, self._handlers(good, read)), status, why)

    def _heard_once(self, found: Iterable[tuple[YamlHookFile, list[Handler]]]) -> list[Handler]:
        """Of several with the same id the first that works is heard; one that does not work hides nothing."""
        heard: dict[str, YamlHookFile] = {}
        entries = list(found)
        for read, handlers in sorted(
            entries, key=lambda entry: entry[1][0].status is not HandlerStatus.ACTIVE
        ):  # stable
            if handlers[0].status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED):
                heard.setdefault(handlers[0].name, read)
        result: list[Handler] = []
        for read, handlers in entries:
            first = heard.get(handlers[0].name, read)
            if first is not read and handlers[0].status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED):
                why = f"`{first.file}` has the id `{handlers[0].name}` too; give one of them another"
                handlers = self._out_of_order(read, HandlerStatus.BROKEN, why)
            result += handlers
        return result


def files(root: Path, shipped_hooks: ShippedHooks) -> list[tuple[str, Path]]:
    """What somebody must agree to before the YAML hooks of a project run: the files by name, each with its path.

    With a script goes what lies beside it; of one in the project's root, the script alone.
    """
    reads = YamlHookCache(shipped_hooks).look(root)
    scripts = {path for read in reads if read.hook for path in command(read.hook, root).get("runs", ())}
    return list({**{read.file: root / read.file for read in reads}, **with_neighbours(root, scripts)}.items())


def _listed(read: YamlHookFile, status: HandlerStatus, why: str) -> Handler:
    name = read.hook.id if read.hook else file_name(os.path.basename(read.file).rpartition(".")[0])
    return Handler(
        name=name,
        event="",
        origin=Origin.PROJECT,
        runtime="exec",
        owner=name,
        path=read.path,
        file=read.file,
        status=status,
        reason=why,
    )


def _with(handlers: Iterable[Handler], status: HandlerStatus, reason: str) -> list[Handler]:
    return [replace(handler, status=status, reason=reason) for handler in handlers]
