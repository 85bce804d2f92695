"""The handlers that a project declares in `.system/hooks/*.yaml`, each with its status.

Parsing a file runs nothing, so it is done before the file is trusted. What the file names runs only when the user
trusts both the file and its scripts. A script can load the files beside it, so they must be trusted as well; of a
script in the project's root, only the script. The same holds for files in the arguments of a program: `python3
scripts/check.py`. A program outside the project belongs to the user and needs no trust.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from samuel.base import paths
from samuel.base.printable import file_name, shell_word
from samuel.clients.hook_formats import yaml_context
from samuel.clients.table import HOOK_FORMATS
from samuel.events.names import ALL
from samuel.files.command_files import expanded, module_file, named_files
from samuel.hooks.guards import with_new_guards
from samuel.hooks.handler import (
    DEFAULT_ORDER,
    Handler,
    HandlerMode,
    HandlerStatus,
    Origin,
    unavailable,
    with_status,
)
from samuel.sources.declarations import GONE
from samuel.sources.yaml_cache import YamlHookCache, YamlHookFile
from samuel.sources.yaml_hook import BUILTIN, PYTHON, Environment, ShippedHooks, YamlHook
from samuel.trust.digests import with_neighbours
from samuel.trust.permit import Permit

Registration = dict[str, list[dict[str, Any]]]
PROJECT_VARIABLES = tuple({hook_format.project_variable: None for hook_format in HOOK_FORMATS.values()})


class YamlHooks:
    """The YAML hooks of one project, in one environment (dev, prod, …)."""

    def __init__(
        self,
        root: Path,
        environment: Environment,
        hook_cache: YamlHookCache,
        permit: Permit,
    ) -> None:
        self._root = root
        self._environment = environment
        self._hook_cache = hook_cache
        self._permit = permit

    def find(self) -> list[Handler]:
        """The handlers of all files, in the order of the files' names."""
        objections = cache(self._permit.objections)  # once per directory of scripts, not once per hook
        by_file: list[tuple[YamlHookFile, list[Handler]]] = []
        trusted: list[tuple[str, YamlHook | None]] = []
        for read in self._hook_cache.look(self._root):
            if read.hook is None:
                why = "; ".join(str(problem) for problem in read.problems)
                by_file.append((read, self._refused(read, HandlerStatus.BROKEN, why)))
                continue
            handlers = self._handlers(read.hook, read)
            untrusted = self._permit.declared(handlers[0], objections)
            if not untrusted:
                trusted.append((read.path, read.hook if read.hook.enabled else None))
            by_file.append((read, self._with_status(read.hook, read, handlers, untrusted)))
        self._hook_cache.save_trusted(trusted)
        return self._one_per_id(by_file)

    @property
    def asked_abilities(self) -> bool:
        """Whether the handlers depend on the registry of abilities."""
        return self._environment.asked_abilities

    def gone(self) -> list[Handler]:
        """The handlers of trusted files that were removed, each refused in its place."""
        removed = (self._hook_cache.last(path) for path in self._permit.gone(str(self._root / paths.YAML_HOOKS)))
        return [
            handler
            for last in removed
            if last is not None and self._last_trusted(last)
            for handler in self._refused(last, HandlerStatus.BROKEN, GONE)
        ]

    def _with_status(
        self, hook: YamlHook, read: YamlHookFile, handlers: list[Handler], untrusted: str
    ) -> list[Handler]:
        missing = missing_program(command(hook, self._root))
        reason = f"{untrusted}; also, {missing}" if untrusted and missing else untrusted
        if untrusted and self._last_trusted(read):
            # A trusted hook that changed (even to disabled) keeps its place in the chain and is refused until the
            # user trusts the new version.
            last = self._refused(read, HandlerStatus.UNTRUSTED, reason)
            active_here = [] if self._inactive(hook, read) else self._here(hook, handlers)
            return with_new_guards(last, _unagreed(active_here, reason))
        if inactive := self._inactive(hook, read):
            return with_status(handlers, HandlerStatus.DISABLED, inactive)
        here = self._here(hook, handlers)
        if untrusted:
            return _unagreed(here, reason)
        return with_status(here, HandlerStatus.BROKEN, missing) if missing else here

    def _last_trusted(self, read: YamlHookFile) -> YamlHook | None:
        """The hook as it was last trusted, if it was active in this environment."""
        hook = read.last_trusted
        return None if hook is None or self._inactive(hook, read) else hook

    def _inactive(self, hook: YamlHook, read: YamlHookFile) -> str:
        """Why a hook is active for none of its events here; "" if it is for some."""
        return hook.switched_off(read.file) or self._environment.inactive(hook)

    def _here(self, hook: YamlHook, handlers: list[Handler]) -> list[Handler]:
        """The handlers that are active in this environment."""
        return [handler for handler in handlers if self._environment.holds(hook, handler.event)]

    def _handlers(self, hook: YamlHook, read: YamlHookFile) -> list[Handler]:
        """One handler for each event of the hook."""
        command_fields = command(hook, self._root)
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
                serial=hook.serial,
                background=hook.background,
                role=hook.role,
                can_declare_role=not (hook.protocol or hook.kind == BUILTIN),  # these are what they are
                mode=hook.mode,
                blocking=hook.blocking,
                match=hook.match,
                config=hook.config,
                declared=position,
                **command_fields,
            )
            for position, event in enumerate(hook.events)
        ]

    def _refused(self, read: YamlHookFile, status: HandlerStatus, why: str) -> list[Handler]:
        """Handlers that must not run, in the places of the last trusted hook; without one, an entry for lists."""
        hook = self._last_trusted(read)
        if hook is None:
            return [_listed(read, status, why)]
        handlers = self._here(hook, self._handlers(hook, read))
        if read.problems:  # what it declares now cannot be read
            handlers = [replace(handler, can_declare_role=False) for handler in handlers]
        return with_status(handlers, status, why)

    def _one_per_id(self, by_file: Iterable[tuple[YamlHookFile, list[Handler]]]) -> list[Handler]:
        """Of several hooks with the same id only the first that works is active; a broken one hides none."""
        first_of_id: dict[str, YamlHookFile] = {}
        entries = list(by_file)
        for read, handlers in sorted(
            entries, key=lambda entry: entry[1][0].status is not HandlerStatus.ACTIVE
        ):  # stable
            if handlers[0].status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED):
                first_of_id.setdefault(handlers[0].name, read)
        result: list[Handler] = []
        for read, handlers in entries:
            first = first_of_id.get(handlers[0].name, read)
            if first is not read and handlers[0].status in (HandlerStatus.ACTIVE, HandlerStatus.UNTRUSTED):
                why = f"`{first.file}` has the id `{handlers[0].name}` too; give one of them another id"
                handlers = self._refused(read, HandlerStatus.BROKEN, why)
            result += handlers
        return result


def files(root: Path, shipped_hooks: ShippedHooks) -> list[tuple[str, Path]]:
    """The files that must be trusted before the YAML hooks of a project run, by name, each with its path.

    All files in the directory of a script count; of a script in the project's root, only the script.
    """
    reads = YamlHookCache(shipped_hooks).look(root)
    scripts = {path for read in reads if read.hook for path in command(read.hook, root).get("runs", ())}
    return list({**{read.file: root / read.file for read in reads}, **with_neighbours(root, scripts)}.items())


def _listed(read: YamlHookFile, status: HandlerStatus, why: str) -> Handler:
    name = read.hook.id if read.hook else file_name(os.path.basename(read.file).rpartition(".")[0])
    return unavailable(name, Origin.PROJECT, status, why, path=read.path, file=read.file)


def _unagreed(handlers: Iterable[Handler], reason: str) -> list[Handler]:
    """The handlers of a file without consent. Its `mode` does not count: its guards deny."""
    enforced = [replace(handler, mode=HandlerMode.ENFORCE) for handler in handlers]
    return with_status(enforced, HandlerStatus.UNTRUSTED, reason)


def registration(reads: Iterable[YamlHookFile], environment: Environment, root: Path) -> Registration:
    """The enabled hooks of each event in the order of its chain, as `samuel hooks register` prints them.

    Events are spelled as in the files. For example:
    {"PostAbilityCall": [{"id": "tracker", "handler": {"kind": "script", "command": "./scripts/tracker.sh"}}]}
    """
    hooks: dict[str, YamlHook] = {}
    for read in reads:
        if read.hook is None or read.hook.switched_off(read.file) or environment.inactive(read.hook):
            continue
        other = hooks.setdefault(read.hook.id, read.hook)
        if other is not read.hook and missing_program(command(other, root)):  # the first that works runs
            hooks[read.hook.id] = read.hook
    entries = [
        (ALL.index(event), DEFAULT_ORDER if hook.order is None else hook.order, hook.id, spelled, hook)
        for hook in hooks.values()
        for event, spelled in zip(hook.events, hook.spelled, strict=True)
        if environment.holds(hook, event)
    ]
    by_event: Registration = {}
    for *_, spelled, hook in sorted(entries, key=lambda entry: entry[:3]):
        handler = {"kind": hook.kind, "command": hook.command}
        by_event.setdefault(spelled, []).append({"id": hook.id, "handler": handler})
    return by_event


def command(hook: YamlHook, root: Path) -> dict[str, Any]:
    """The fields of `Handler` that say what is run."""
    if hook.kind == BUILTIN:
        return {"runtime": "python", "module": hook.module, "entry": hook.function}
    if hook.kind == PYTHON:
        return _python_command(hook, root)
    client, _, client_event = hook.protocol.partition("/")
    dialect = {"dialect": client or yaml_context.NAME, "client_event": client_event}
    return {"runtime": "exec", **dialect, **_script_command(hook, root)}


def missing_program(command_fields: Mapping[str, Any]) -> str:
    """Why the program of a command cannot be run; "" if it can."""
    path = command_fields.get("path", "")
    if not os.path.isabs(path):
        return ""  # a program of the user, or a module: looked up when it is called
    if not os.path.isfile(path):
        return f"`{path}` does not exist" if not os.path.lexists(path) else f"`{path}` is not a file"
    if command_fields["runtime"] == "exec" and not os.access(path, os.X_OK):
        return f"`{path}` is not executable; `chmod +x {shell_word(path)}`"
    return ""


def _python_command(hook: YamlHook, root: Path) -> dict[str, Any]:
    file = hook.file or module_file(hook.module, root)
    fields: dict[str, Any] = {"runtime": "python", "entry": hook.function}
    if not file:
        return {**fields, "module": hook.module}
    return {**fields, "path": str(root / file), "runs": (str(root / file),)}


def _script_command(hook: YamlHook, root: Path) -> dict[str, Any]:
    # A script that was written for an agent may be named by that agent's variable for the project.
    variables = dict.fromkeys(PROJECT_VARIABLES, str(root)) if hook.protocol else {}
    program, *arguments = ("sh", "-c", *hook.words) if hook.shell else hook.words
    plain = [expanded(word, variables) for word in arguments]
    if "/" not in program:
        return {"path": program, "arguments": tuple(arguments), "runs": tuple(named_files(plain, root))}
    path = os.path.normpath(os.path.join(root, expanded(program, variables)))
    return {"path": path, "arguments": tuple(arguments), "runs": tuple(named_files([path, *plain], root))}
