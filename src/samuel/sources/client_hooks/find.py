"""The handlers that agents' own hook files declare, each with its status.

Such a file is Claude Code's settings, a plugin's hooks.json or Cursor's hooks.json. Reading it runs nothing. An
entry that Samuel cannot run is kept with the reason, so that it can be listed.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import Problem
from samuel.clients.hook_formats.apm import as_settings
from samuel.clients.hook_formats.client_hook import ClientHook, ClientHookFile
from samuel.clients.hook_formats.entry import Entry, EntryProblem, ImportedFile
from samuel.clients.table import HOOK_ENTRIES
from samuel.files import file_cache
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Role, unavailable, with_status
from samuel.sources.client_hooks.imported_files import project_files
from samuel.sources.declarations import GONE
from samuel.sources.yaml_hooks import missing_program
from samuel.trust import digests
from samuel.trust.digests import with_neighbours
from samuel.trust.permit import CheckDirectory, Permit

MAX_BYTES = 1024 * 1024
DISABLE_ALL = "disableAllHooks"
_BRIDGE = re.compile(r"\bemit\s+--as\b")
TrustedHooks = dict[str, tuple[ClientHook, ...]]


class ClientHooks:
    """The hooks of agents in one project and in the user's home directory."""

    def __init__(
        self,
        root: Path,
        project: Sequence[ImportedFile],
        user: Sequence[ImportedFile],
        last_trusted: LastTrusted,
        permit: Permit,
    ) -> None:
        self._root = root
        self._project = project
        self._user = user
        self._last_trusted = last_trusted
        self._permit = permit

    def of_project(self) -> list[Handler]:
        """The handlers of the project's files: each runs only if the user trusts the hooks and their scripts."""
        objections = cache(self._permit.objections)  # once per directory of scripts, not once per hook
        handlers: list[Handler] = []
        trusted: dict[str, tuple[ClientHook, ...]] = {}
        for read in read_files(self._project):
            if read.problems:
                why = "; ".join(map(str, read.problems))
                handlers += self._refused(read, HandlerStatus.BROKEN, why)
                continue
            if not read.hooks:
                handlers += self._removed(read)
                continue
            if why := self._permit.text(read.agreement, read.digest):
                handlers += self._untrusted(read, why)
                continue
            trusted[read.path] = read.hooks
            handlers += [
                self._with_status(handler, hook, objections)
                for handler, hook in zip(_handlers(read, Origin.PROJECT), read.hooks, strict=True)
            ]
        self._last_trusted.save(trusted)
        return handlers

    def of_user(self) -> list[Handler]:
        """The handlers of the user's own files, which need no agreement."""
        handlers: list[Handler] = []
        for read in read_files(self._user):
            if read.problems:
                why = "; ".join(map(str, read.problems))
                handlers.append(_listed(read, Origin.USER, HandlerStatus.BROKEN, why))
            handlers += [replace(handler, file="", digest="") for handler in _handlers(read, Origin.USER)]
        return handlers

    def _with_status(self, handler: Handler, hook: ClientHook, objections: CheckDirectory) -> Handler:
        """The handler of trusted hooks: its script must be trusted too, and must be there."""
        if handler.status is not HandlerStatus.ACTIVE:
            return handler
        if why := self._permit.declared(handler, objections):
            return replace(handler, status=HandlerStatus.UNTRUSTED, reason=why)
        agreed = self._permit.agreed_names()
        gone = (
            f"`{name}`: {GONE}"
            for path in handler.runs
            if not os.path.lexists(path) and (name := os.path.relpath(path, self._root)) in agreed
        )
        why = next(gone, "") or missing_program({"path": hook.program, "runtime": handler.runtime})
        return replace(handler, status=HandlerStatus.BROKEN, reason=why) if why else handler

    def _removed(self, read: ClientHookFile) -> list[Handler]:
        """The trusted hooks of a file that has none any more, until the user confirms that."""
        if read.agreement not in self._permit.agreed_names():
            return []
        return self._refused(read, HandlerStatus.BROKEN, GONE) if self._last_trusted.of(read.path) else []

    def _untrusted(self, read: ClientHookFile, why: str) -> list[Handler]:
        """The hooks of a file and, if it was trusted before, those that it had then."""
        now = {(hook.client_event, hook.command, hook.matcher) for hook in read.hooks}
        before = tuple(
            hook
            for hook in self._last_trusted.of(read.path)
            if (hook.client_event, hook.command, hook.matcher) not in now
        )
        handlers = _handlers(replace(read, hooks=(*read.hooks, *before)), Origin.PROJECT)
        return [
            replace(handler, status=HandlerStatus.UNTRUSTED, reason=why)
            if handler.status is HandlerStatus.ACTIVE
            else handler
            for handler in handlers
        ]

    def _refused(self, read: ClientHookFile, status: HandlerStatus, why: str) -> list[Handler]:
        """Handlers that must not run, in the places of the last trusted hooks; without those, one for lists."""
        handlers = _handlers(replace(read, hooks=self._last_trusted.of(read.path)), Origin.PROJECT)
        active = [handler for handler in handlers if handler.status is HandlerStatus.ACTIVE]
        if not active:
            return [_listed(read, Origin.PROJECT, status, why)]
        return with_status(active, status, why)


def read_files(imported: Iterable[ImportedFile]) -> list[ClientHookFile]:
    """All of these files, whether they exist or not."""
    names: Counter[str] = Counter()
    return [read_file(file, names) for file in imported]


def texts(root: Path, imports: Sequence[str]) -> list[tuple[str, str, str]]:
    """What must be trusted before the imported hooks of a project run: (name, digest, the hooks as JSON)."""
    reads = read_files(project_files(root, imports))
    return [(read.agreement, read.digest, read.text) for read in reads if read.hooks]


def files(root: Path, imports: Sequence[str]) -> dict[str, Path]:
    """The files of the project that the imported hooks run, by name, with those beside them."""
    reads = read_files(project_files(root, imports))
    return with_neighbours(root, (path for read in reads for hook in read.hooks for path in hook.runs))


def _handlers(read: ClientHookFile, origin: Origin) -> list[Handler]:
    handlers = []
    for position, hook in enumerate(read.hooks):
        handler = _handler(hook, origin, read.agreement, read.digest, position)
        if hook.left_out:
            handler = replace(handler, status=HandlerStatus.DISABLED, reason=f"not imported: {hook.left_out}")
        handlers.append(handler)
    return handlers


def _handler(hook: ClientHook, origin: Origin, agreement: str, digest: str, position: int) -> Handler:
    program, *arguments = hook.words or ("sh",)
    return Handler(
        name=hook.name,
        event=hook.event,
        origin=origin,
        runtime="exec",
        owner=hook.name,
        path=program,
        arguments=tuple(arguments),
        env=hook.env,
        file=agreement,
        runs=hook.runs,
        digest=digest,
        dialect=hook.client,
        client_event=hook.client_event,
        # A plugin that the project names may not be enabled in its agent: better called twice than never.
        left_to="" if hook.env else hook.client,
        timeout=hook.timeout,
        blocking=hook.blocking,
        background=hook.background,
        role=Role.OBSERVE if hook.background else None,  # an agent does not read what it answers
        match=hook.match,
        declared=position,
    )


def _listed(read: ClientHookFile, origin: Origin, status: HandlerStatus, why: str) -> Handler:
    name = f"{read.client}/{read.file}"
    file = read.agreement if origin is Origin.PROJECT else ""
    return unavailable(name, origin, status, why, path=read.path, file=file)


def read_file(imported: ImportedFile, names: Counter[str]) -> ClientHookFile:
    """The hooks in one file. `names` counts the names given so far, so that each is given once."""
    file, path = imported.file, str(imported.path)
    read = ClientHookFile(file=file, path=path, client=imported.client)
    if not os.path.lexists(path):
        return read
    try:
        settings = _settings(path)
        if imported.of_apm:
            settings = as_settings(settings, imported.path, Path(imported.plugin))
        hooks = _without_bridges(settings.get("hooks", {}))
        if not hooks:
            return read
        disabled = settings.get(DISABLE_ALL) is True
        text = json.dumps({"hooks": hooks, **({DISABLE_ALL: True} if disabled else {})}, indent=2) + "\n"
        entries = list(HOOK_ENTRIES[imported.client](imported, hooks))
    except EntryProblem as error:
        return replace(read, problems=(Problem(str(error), file, error.line, "correct the file"),))
    except RecursionError:
        return replace(read, problems=(Problem("it is nested too deeply", file, 0, "correct the file"),))
    prefix = f"{imported.client}-user" if imported.of_user else imported.client
    named = tuple(_named(entries, prefix, names, disabled=disabled))
    return replace(read, text=text, digest=digests.digest_text(text), hooks=named)


def _settings(path: str) -> Mapping[str, Any]:
    digest, data = digests.read_file(path, MAX_BYTES + 1)
    if not digest:
        raise EntryProblem("it cannot be read")
    if len(data) > MAX_BYTES:
        raise EntryProblem(f"it has more than {MAX_BYTES} bytes")
    try:
        settings = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise EntryProblem("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise EntryProblem(f"not JSON: {error.msg}, column {error.colno}", error.lineno) from None
    if not isinstance(settings, dict):
        raise EntryProblem("it must be a JSON object", 1)
    return settings


def _without_bridges(hooks: object) -> dict[str, list[Any]]:
    """The hooks by event, without Samuel's own entries and without empty lists."""
    if not isinstance(hooks, dict):
        raise EntryProblem("`hooks` must be an object")
    by_event: dict[str, list[Any]] = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise EntryProblem(f"`hooks.{event}` must be an array")
        others = [group for group in map(_group_without_bridges, groups) if group is not None]
        if others:
            by_event[event] = others
    return by_event


def _group_without_bridges(group: Any) -> Any:
    if not isinstance(group, dict):
        return group  # refused later, with its place
    if _is_bridge(group):
        return None
    inner = group.get("hooks")
    if not isinstance(inner, list):
        return group
    others = [hook for hook in inner if not (isinstance(hook, dict) and _is_bridge(hook))]
    return {**group, "hooks": others} if others else None


def _is_bridge(hook: Mapping[str, Any]) -> bool:
    """Is it an entry of Samuel's own, which would call Samuel from within Samuel?"""
    words = [hook.get("command"), *(hook["args"] if isinstance(hook.get("args"), list) else ())]
    line = " ".join(word for word in words if isinstance(word, str))
    return "samuel" in line and _BRIDGE.search(line) is not None


def _named(entries: Iterable[Entry], prefix: str, names: Counter[str], *, disabled: bool) -> Iterator[ClientHook]:
    for entry in entries:
        base = f"{prefix}/{entry.script or entry.hook.client_event}"
        names[base] += 1
        name = base if names[base] == 1 and entry.script else f"{base}-{names[base]}"
        why = f"`{DISABLE_ALL}` is set in its file" if disabled else entry.hook.left_out
        yield replace(entry.hook, name=name, left_out=why)


class LastTrusted:
    """The trusted hooks of one project by file, saved in the user's state directory.

    A file that was changed, that broke or that is gone leaves its trusted hooks in their places, where they are
    refused.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @cached_property
    def _stored(self) -> TrustedHooks:
        # Without a stamp: the last trusted hooks must survive an update of Samuel.
        return file_cache.load(self._file, msgpack_decoder(TrustedHooks)) or {}

    def of(self, path: str) -> tuple[ClientHook, ...]:
        return self._stored.get(path, ())

    def save(self, hooks: Mapping[str, tuple[ClientHook, ...]]) -> None:
        """Save the hooks of files that are trusted now."""
        if any(self._stored.get(path, ()) != trusted for path, trusted in hooks.items()):
            self._stored.update(hooks)
            file_cache.save(self._file, self._stored, msgspec.msgpack.encode)
