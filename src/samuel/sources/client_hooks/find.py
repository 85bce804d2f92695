"""The handlers that agents' own hook files declare, each with its status."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from samuel.clients.hook_formats.client_hook import ClientHook, ClientHookFile
from samuel.clients.hook_formats.entry import ImportedFile
from samuel.hooks.handler import Handler, HandlerStatus, Origin
from samuel.sources.client_hooks.imported_files import project_files
from samuel.sources.client_hooks.last_trusted import LastTrusted
from samuel.sources.client_hooks.read import read_file
from samuel.sources.yaml_command import missing_program
from samuel.trust.neighbours import with_neighbours
from samuel.trust.permit import CheckDirectory, Permit

GONE = "it was trusted and is gone; restore it, or run `samuel trust` to confirm that it was removed"


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
        return [replace(handler, status=status, reason=why) for handler in active]


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
        match=hook.match,
        declared=position,
    )


def _listed(read: ClientHookFile, origin: Origin, status: HandlerStatus, why: str) -> Handler:
    name = f"{read.client}/{read.file}"
    return Handler(
        name=name,
        event="",
        origin=origin,
        runtime="exec",
        owner=name,
        path=read.path,
        file=read.agreement if origin is Origin.PROJECT else "",
        status=status,
        reason=why,
    )
