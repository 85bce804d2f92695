"""The handlers that hook files declare.

A file is asked once (`<file> hook`, or by loading it in a worker); the answer is cached in the user's state
directory until the file changes. The last answer of a changed file is kept too: a guard that was tampered with, or
that broke, keeps its place in the chain and is refused there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import convert, msgpack_decoder
from samuel.base.errors import UnknownEvent
from samuel.clients.hook_formats.dialects import event_and_dialect
from samuel.events.explain import explained
from samuel.files import file_cache
from samuel.files.survey import Signature
from samuel.hooks.handler import Outcome, Package
from samuel.process import spawn
from samuel.process.output import ending, last_line
from samuel.process.reason import NotRunnable
from samuel.runtimes.opened_program import ProgramSearch, opened_program
from samuel.runtimes.python import PythonRuntime
from samuel.trust.content import NO_CONTENT, ContentChanged, TrustedContent

# A hook answers within milliseconds; on a busy machine it may take seconds, and is not broken for that.
ASK_SECONDS = 10.0
LOAD_SECONDS = 30.0  # a Python file imports what it needs before it can say anything
ASK_BYTES = 64 * 1024
MAX_LINES, MAX_WORDS = 100, 100  # of an answer
GONE = "it was trusted and is gone; restore it, or run `samuel trust` to confirm that it was removed"


class HandlerDeclaration(msgspec.Struct, frozen=True, omit_defaults=True):
    """One handler that a file declares."""

    event: str
    function: str = ""
    dialect: str = ""
    order: int | None = None
    strict: bool | None = None
    timeout: str | None = None
    role: str | None = None
    mode: str | None = None
    serial: bool = False
    background: bool = False
    can_declare_role: bool = False  # of a plugin's handler: its manifest binds it


class FileDeclarations(msgspec.Struct, frozen=True, omit_defaults=True):
    signature: Signature
    declared: tuple[HandlerDeclaration, ...] = ()
    problem: str = ""
    owner: str = ""  # the plugin's name, for what a plugin declares


def stored_declarations(file: Path) -> dict[str, FileDeclarations]:
    """The last answers that a cache file holds, by path. They are good for a newer Samuel too: no stamp."""
    return file_cache.load(file, msgpack_decoder(dict[str, FileDeclarations])) or {}


class DeclarationCache:
    """The answers of one project's hook files, or of one user's."""

    def __init__(
        self, file: Path, root: str, environment: Mapping[str, str], cache: Path, python: PythonRuntime
    ) -> None:
        self._file = file
        self._root = root
        self._environment = environment
        self._cache = cache
        self._python = python

    @cached_property
    def _stored(self) -> dict[str, FileDeclarations]:
        """Read when first needed: while nothing changed, it is not needed."""
        return stored_declarations(self._file)

    def last(self, path: str) -> FileDeclarations | None:
        """The last answer of a file, also if the file is another one by now."""
        return self._stored.get(path)

    def keep(self, path: str, answer: FileDeclarations) -> None:
        """Note what something that is not a hook file said."""
        if self._stored.get(path) != answer:
            self._stored[path] = answer
            self._write()

    def ask(
        self,
        files: Iterable[tuple[str, Signature]],
        package: Package | None = None,
        content: TrustedContent = NO_CONTENT,
    ) -> dict[str, FileDeclarations]:
        """The answer of each file. Those not asked before are asked at the same time, a plugin's in its walls."""
        files_asked = list(files)
        changed = [
            (path, signature)
            for path, signature in files_asked
            if (stored := self._stored.get(path)) is None or stored.signature != signature
        ]
        if not changed:
            return {path: self._stored[path] for path, _ in files_asked}
        with ThreadPoolExecutor(max_workers=min(len(changed), 2 * (os.cpu_count() or 1))) as threads:
            answers = threads.map(lambda file: self._ask(file[0], file[1], package, content), changed)
            fresh = {path: answer for (path, _), answer in zip(changed, answers, strict=True)}
        # A problem is not kept: it may come from what the file needs, and be gone the next time.
        self._stored.update((path, answer) for path, answer in fresh.items() if not answer.problem)
        self._write()
        return {path: fresh.get(path) or self._stored[path] for path, _ in files_asked}

    def _ask(
        self, path: str, signature: Signature, package: Package | None, content: TrustedContent
    ) -> FileDeclarations:
        ask = self._load if is_module(path, signature) else self._run
        return ask(path, signature, package, content)

    def _run(
        self, path: str, signature: Signature, package: Package | None, content: TrustedContent
    ) -> FileDeclarations:
        """`<file> hook` prints the names of its events, each with a role if it has one: `PreAbilityCall guard`."""
        try:
            finished = self._walled(path, package, content) if package else self._free(path, content)
        except (NotRunnable, ContentChanged) as error:
            return FileDeclarations(signature, problem=str(error))
        if finished.ended == "timed_out":
            what = f"`{path} hook` did not answer within {ASK_SECONDS:g}s"
            return FileDeclarations(signature, problem=f"{what}; it has to print the names of its events and exit")
        if finished.ended != "exited":
            return FileDeclarations(signature, problem=f"`{path} hook`: {finished.why or 'too much output'}")
        if finished.returncode != 0:
            reason = ending(finished.returncode, finished.stderr.decode("utf-8", "replace"))
            return FileDeclarations(signature, problem=f"`{path} hook` failed: {reason}")
        return _named(path, signature, finished.stdout.decode("utf-8", "replace").splitlines())

    def _free(self, path: str, content: TrustedContent) -> spawn.Finished:
        search = ProgramSearch(self._environment["PATH"], str(self._cache / "pycache"), self._cache)
        with opened_program(path, ("hook",), search, content) as program:
            return spawn.run(
                program.argv,
                cwd=self._root,
                env=self._environment,
                timeout=ASK_SECONDS,
                output_limit=ASK_BYTES,
                pass_fds=program.pass_fds,
                executable=program.executable,
            )

    def _walled(self, path: str, package: Package, content: TrustedContent) -> spawn.Finished:
        walls = self._python.confinement
        search = ProgramSearch(walls.path, walls.pycache(package), self._cache)
        with (
            opened_program(path, ("hook",), search, content, by_name=True) as (argv, _, _),
            walls.walled(package, argv, asking=True) as command,
        ):
            return spawn.run(
                command.argv,
                cwd=package.directory,
                env=walls.environment(package, argv[0]),
                timeout=ASK_SECONDS,
                output_limit=ASK_BYTES,
                pass_fds=command.pass_fds,
            )

    def _load(
        self, path: str, signature: Signature, package: Package | None, content: TrustedContent
    ) -> FileDeclarations:
        worker = f"discovery:{os.path.dirname(path)}"
        reply = self._python.describe(path, worker, LOAD_SECONDS, package, content)
        if reply.outcome is not Outcome.OK:
            why = last_line(reply.message, str(reply.outcome))
            return FileDeclarations(signature, problem=f"cannot be loaded: {why}")
        return declared(reply.result, signature)

    def _write(self) -> None:
        file_cache.save(self._file, self._stored, msgspec.msgpack.encode)


def is_module(path: str, signature: Signature) -> bool:
    """A `.py` file that is not executable is loaded, not run."""
    return path.endswith(".py") and bool(signature) and not signature[4] & 0o111


def declared(described: Mapping[str, Any], signature: Signature = ()) -> FileDeclarations:
    """The handlers that a worker found in a module, with the events in Samuel's spelling."""
    try:
        declarations = convert(described.get("declared", ()), tuple[HandlerDeclaration, ...])
    except msgspec.ValidationError as error:
        return FileDeclarations(signature, problem=f"`@samuel.hook` has a wrong argument: {explained(error)}")
    functions = []
    for declaration in declarations:
        try:
            event, _ = event_and_dialect(declaration.event)
        except UnknownEvent as error:
            return FileDeclarations(signature, problem=f"`{declaration.function}`: {error.message}; {error.hint}")
        functions.append(replace(declaration, event=event))
    if not functions:
        return FileDeclarations(
            signature, problem="no function in it is marked with `@samuel.hook`; a script needs `chmod +x`"
        )
    return FileDeclarations(signature, tuple(functions))


def _named(path: str, signature: Signature, lines: list[str]) -> FileDeclarations:
    """The events that a file printed. A word after an event that is no event is the role of the handler."""
    events: dict[str, HandlerDeclaration] = {}
    for line in lines[:MAX_LINES]:
        last = ""
        for word in line.split()[:MAX_WORDS]:
            try:
                event, dialect = event_and_dialect(word)
            except UnknownEvent as error:
                if last and events[last].role is None:
                    events[last] = replace(events[last], role=word[:80])
                    continue
                what = f"`{path} hook` printed `{word[:80]}`, which is not an event; {error.hint}"
                return FileDeclarations(signature, problem=what)
            last = event
            events.setdefault(event, HandlerDeclaration(event, dialect=dialect))
    if not events:
        return FileDeclarations(
            signature, problem=f"`{path} hook` printed nothing; it must print the name of an event"
        )
    return FileDeclarations(signature, tuple(events.values()))
