"""Standalone hooks: the files in `.samuel/hooks/` and `.kodelet/hooks/`, of a project and of its user.

An executable file speaks the `hook`/`run` protocol. A `.py` file that is not executable and mentions Samuel is a
module with `@samuel.hook` functions. Any other file is a helper, such as a README, unless it looks like a hook
that is not executable by mistake: a script or a program, or a file that was a hook before.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base import paths
from samuel.base.paths import DISABLED
from samuel.base.printable import file_name, shell_word
from samuel.config.duration import parse_duration
from samuel.config.model import RESERVED_NAMES
from samuel.events import event_type
from samuel.files.survey import Signature, signature
from samuel.hooks.handler import (
    Handler,
    HandlerMode,
    HandlerStatus,
    Origin,
    Package,
    Role,
    background_refusal,
    declared_mode,
    unavailable,
    with_status,
)
from samuel.sources.declarations import GONE, DeclarationCache, FileDeclarations, HandlerDeclaration, is_module
from samuel.trust.content import TrustedContent
from samuel.trust.digests import Digests
from samuel.trust.permit import refusal

MODULE, PROGRAM, HELPER, UNREADABLE = "module", "program", "helper", "unreadable"
UNMARKED_HINT = "begin its name with `_` if other hooks use it"


class DirectoryCheck(NamedTuple):
    """Which files of a directory may be asked for their events."""

    objections: Callable[[str], Mapping[str, str]]  # why files of a directory are not trusted, by name
    content: Callable[[tuple[str, ...]], TrustedContent]  # what files were permitted with


class HookFile(NamedTuple):
    name: str
    path: str
    signature: Signature
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""


def in_directory(
    directory: str,
    origin: Origin,
    answers: DeclarationCache,
    check: DirectoryCheck,
    digests: Digests,
    package: Package | None = None,
) -> list[Handler]:
    """The handlers of the hook files in one directory; `check` says which of them are not trusted.

    The files of a plugin (`package`) are asked for their events within its walls.
    """
    handlers: list[Handler] = []
    files = _listing(directory)
    if files is None:
        name = os.path.relpath(directory, os.path.dirname(os.path.dirname(directory)))
        why = f"`{directory}` cannot be read; `chmod u+rx {shell_word(directory)}`"
        return [_unavailable(HookFile(name, directory, ()), origin, HandlerStatus.BROKEN, why)]
    if not files:
        return []
    refused_files = check.objections(directory)

    def last_answer(path: str) -> FileDeclarations | None:
        """What a file declared when it was a hook, as long as its new content is not trusted."""
        last = answers.last(path)
        return last if last and (refusal(os.path.basename(path), refused_files) or _was_executable(last)) else None

    hook_files = [_with_free_name(file, package) for file in _candidates(files, last_answer)]
    why_not = {file.path: refusal(os.path.basename(file.path), refused_files) for file in hook_files}
    ready = [file for file in hook_files if file.status is HandlerStatus.ACTIVE and not why_not[file.path]]
    content = check.content(tuple(file.path for file in ready))
    declarations = answers.ask(((file.path, file.signature) for file in ready), package, content)
    for file in hook_files:
        why, last = why_not[file.path], answers.last(file.path.removesuffix(DISABLED))
        # Disabling is a change like any other: until it is trusted, a hook that worked keeps its place, refused.
        if file.status is HandlerStatus.DISABLED and not (why and last):
            handlers.append(_unavailable(file, origin, file.status, file.reason))
        elif why:
            reason = f"{why}; also, {file.reason}" if file.status is HandlerStatus.BROKEN else why
            handlers += _refused(file, origin, last, HandlerStatus.UNTRUSTED, reason)
        elif file.status is HandlerStatus.BROKEN:
            handlers += _refused(file, origin, last, HandlerStatus.BROKEN, file.reason)
        elif problem := declarations[file.path].problem:
            handlers += _refused(file, origin, last, HandlerStatus.BROKEN, problem)
        else:
            digest = digests.of(file.path, file.signature)
            declared = _declared(file, origin, declarations[file.path])
            handlers += [replace(handler, digest=digest) for handler in declared]
    return handlers


def candidates(directory: str) -> list[str]:
    """The paths of files in a directory that may be hooks, as far as can be told without running them."""
    files = _candidates(_listing(directory) or {}, lambda path: None)
    return [file.path for file in files if file.status is not HandlerStatus.DISABLED]


def helper_texts(directory: str) -> tuple[list[str], dict[str, bytes]]:
    """The Python files in a directory that are no hooks, and the beginning of each file there, by name."""
    files = _listing(directory) or {}
    regular = {name: entry for name, entry in sorted(files.items()) if entry.is_file() and name == file_name(name)}
    texts = {name: text for name, entry in regular.items() if (text := _beginning(entry.path)) is not None}
    helpers = [
        name
        for name, text in texts.items()
        if name.endswith(".py")
        and name + DISABLED not in files
        and not regular[name].stat().st_mode & 0o111
        and _kind(name, text) is HELPER
    ]
    return helpers, texts


def gone(
    base: Path, origin: Origin, answers: DeclarationCache, agreed: Callable[[str], list[str]]
) -> list[Handler]:
    """The handlers of trusted hook files that were removed: refused until the user confirms that."""
    handlers: list[Handler] = []
    for directory in paths.HOOK_DIRS:
        for path in agreed(str(base / directory)):
            name, last = os.path.basename(path), answers.last(path)
            if last is None or os.path.isfile(path + DISABLED):
                continue  # a helper, or disabled by a new name: then it is listed under that name
            file = HookFile(
                name.removesuffix(".py") if is_module(path, last.signature) else name, path, last.signature
            )
            handlers += _refused(file, origin, last, HandlerStatus.BROKEN, GONE)
    return handlers


def _listing(directory: str) -> dict[str, os.DirEntry[str]] | None:
    """The entries of a directory by name, without hidden ones; None if it cannot be read."""
    try:
        with os.scandir(directory) as entries:
            return {entry.name: entry for entry in entries if not entry.name.startswith(".")}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError:
        return None


def _candidates(
    files: Mapping[str, os.DirEntry[str]], last_answer: Callable[[str], FileDeclarations | None]
) -> Iterator[HookFile]:
    """The files that may be hooks. A file that was one stays one until its new content is trusted."""
    for name in sorted(files):
        path = files[name].path
        if name.endswith("~"):
            continue
        if name != (printable_name := file_name(name)):  # no payload, journal or agreement can hold the name
            why = "its name is not UTF-8; rename it"
            yield HookFile(printable_name, file_name(path), (), HandlerStatus.BROKEN, why)
            continue
        try:
            file_signature = signature(files[name].stat())
        except OSError:
            yield HookFile(
                name, path, (), HandlerStatus.BROKEN, f"`{path}` is a link to something that does not exist"
            )
            continue
        mode, last = file_signature[4], last_answer(path)
        if stat.S_ISDIR(mode):
            continue  # a directory of helpers
        if not stat.S_ISREG(mode):
            if last:
                yield HookFile(
                    name, path, last.signature, HandlerStatus.BROKEN, f"`{path}` is not a file any more"
                )
            continue
        if name.endswith(DISABLED):
            if (hook_name := name.removesuffix(DISABLED)) not in files:
                why = f"the file is named `{name}`"
                yield HookFile(hook_name, path, file_signature, HandlerStatus.DISABLED, why)
        elif name + DISABLED in files:
            why = f"`{name}{DISABLED}` is beside it"
            yield HookFile(name, path, file_signature, HandlerStatus.DISABLED, why)
        elif mode & 0o111:
            yield HookFile(name, path, file_signature)
        else:
            yield from _not_executable(name, path, file_signature, last)


def _with_free_name(file: HookFile, package: Package | None) -> HookFile:
    """The file, broken if its name is that of the built-in handlers; a plugin's hooks have its name in front."""
    if package is not None or file.name not in RESERVED_NAMES or file.status is not HandlerStatus.ACTIVE:
        return file
    why = f"`{file.name}` is the name of the built-in handlers; rename `{file.path}`"
    return file._replace(status=HandlerStatus.BROKEN, reason=why)


def _not_executable(
    name: str, path: str, file_signature: Signature, last: FileDeclarations | None
) -> Iterator[HookFile]:
    kind = _probable_kind(path)
    make_executable = f"it is not executable; `chmod +x {shell_word(path)}`"
    if kind is UNREADABLE:
        why = f"`{path}` cannot be read; `chmod +r {shell_word(path)}`"
        yield HookFile(name, path, file_signature, HandlerStatus.BROKEN, why)
    elif kind is MODULE:
        yield HookFile(name.removesuffix(".py"), path, file_signature)
    elif last and _was_executable(last):
        yield HookFile(name, path, file_signature, HandlerStatus.BROKEN, make_executable)
    elif last:
        why = "it no longer declares a hook"
        yield HookFile(name.removesuffix(".py"), path, file_signature, HandlerStatus.BROKEN, why)
    elif kind is PROGRAM:
        why = f"{make_executable}; if it is a helper and not a hook, move it into a subdirectory"
        yield HookFile(name, path, file_signature, HandlerStatus.BROKEN, why)


def _was_executable(answer: FileDeclarations) -> bool:
    return bool(answer.signature) and bool(answer.signature[4] & 0o111)


def _probable_kind(path: str) -> str:
    """What a file that is not executable is probably meant to be. It is read, never run."""
    text = _beginning(path)
    return UNREADABLE if text is None else _kind(path, text)


def _beginning(path: str) -> bytes | None:
    """The beginning of a file, enough to tell what it is; None if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return None


def _kind(path: str, text: bytes) -> str:
    if path.endswith(".py"):
        return MODULE if b"samuel" in text else HELPER
    return PROGRAM if text.startswith((b"#!", b"\x7fELF")) else HELPER


def _declared(file: HookFile, origin: Origin, answer: FileDeclarations) -> list[Handler]:
    module = is_module(file.path, file.signature)
    return [
        declared_handler(declaration, file.name, origin, position, path=file.path, module=module)
        for position, declaration in enumerate(answer.declared)
    ]


def declared_handler(
    declaration: HandlerDeclaration,
    owner: str,
    origin: Origin,
    position: int,
    *,
    path: str = "",
    module: bool = True,
) -> Handler:
    """The handler that a declaration describes."""
    status, reason = HandlerStatus.ACTIVE, ""
    timeout, role, mode = None, None, HandlerMode.ENFORCE
    if declaration.timeout is not None:
        try:
            timeout = parse_duration(declaration.timeout)
        except ValueError as error:
            status, reason = HandlerStatus.BROKEN, f"`timeout` {error}"
    if declaration.role is not None:
        try:
            role = Role(declaration.role)
        except ValueError:
            # It may have been meant to be a guard, and a broken guard denies.
            why = f"`role` must be one of {', '.join(Role)}, not `{declaration.role}`"
            status, reason, role = HandlerStatus.BROKEN, why, Role.GUARD
    if declaration.mode is not None:
        try:
            mode = declared_mode(declaration.mode, event_type(declaration.event))
        except ValueError as error:
            status, reason = HandlerStatus.BROKEN, f"`mode` {error}"
    not_in_background = background_refusal(event_type(declaration.event), role, strict=declaration.strict)
    if declaration.background and not_in_background:
        status, reason = HandlerStatus.BROKEN, not_in_background
    name = owner if declaration.function in ("", owner.replace("-", "_")) else f"{owner}:{declaration.function}"
    return Handler(
        name=name,
        event=declaration.event,
        origin=origin,
        runtime="python" if module else "exec",
        owner=owner,
        path=path,
        entry=declaration.function if module else "run",
        dialect=declaration.dialect,
        order=declaration.order,
        strict=declaration.strict,
        timeout=timeout,
        role=role,
        mode=mode,
        serial=declaration.serial,
        background=declaration.background,
        declared=position,
        status=status,
        reason=reason,
    )


def _refused(
    file: HookFile, origin: Origin, last: FileDeclarations | None, status: HandlerStatus, why: str
) -> list[Handler]:
    """Handlers that must not run, in the places of the last declarations; without those, an entry for lists."""
    places = _declared(file, origin, last) if last is not None else []
    if not places:
        return [_unavailable(file, origin, status, why)]
    return with_status(places, status, why)


def _unavailable(file: HookFile, origin: Origin, status: HandlerStatus, reason: str) -> Handler:
    runtime = "python" if is_module(file.path, file.signature) else "exec"
    return unavailable(file.name, origin, status, reason, runtime=runtime, path=file.path)


def unmarked_files(root: Path, home: Path) -> list[str]:
    """What to say about each of these files in the hook directories of a project and its user."""
    places = [(root / place, place) for place in paths.HOOK_DIRS]
    places += [(home / place, f"~/{place}") for place in paths.HOOK_DIRS]
    return [
        f"`{place_name}/{name}` is not a hook: it has no function marked with `@samuel.hook` ({UNMARKED_HINT})"
        for directory, place_name in places
        for name in _unmarked(str(directory))
    ]


def _unmarked(directory: str) -> Iterator[str]:
    helpers, texts = helper_texts(directory)
    for name in helpers:
        stem = os.fsencode(name.removesuffix(".py"))
        used = re.compile(
            rb"(?:import|from)\b[^\n]*\b" + re.escape(stem) + rb"\b|\b" + re.escape(stem) + rb"\.py\b"
        )
        if not name.startswith("_") and not any(used.search(text) for file, text in texts.items() if file != name):
            yield name
