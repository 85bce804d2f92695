"""Standalone hooks: the files in `.samuel/hooks/` and `.kodelet/hooks/`, of a project and of its user.

An executable is a hook by the `hook`/`run` protocol. A `.py` file that is not executable and mentions Samuel is a
module with `@samuel.hook` functions. Anything else is a helper of one of these, such as a README, unless it looks
like a hook that is not executable by mistake: a script or a program, or a file that was a hook before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from msgspec.structs import replace

from samuel import paths
from samuel.config.duration import parse_duration
from samuel.files.survey import Signature, signature
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Role
from samuel.hooks.package import Package
from samuel.paths import DISABLED
from samuel.printable import file_name
from samuel.sources.declarations import DeclarationCache, FileDeclarations, HandlerDeclaration, is_module
from samuel.trust.digests import Digests
from samuel.trust.permit import refusal


class HookFile(NamedTuple):
    name: str
    path: str
    found: Signature
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""


def in_directory(
    directory: str,
    origin: Origin,
    answers: DeclarationCache,
    objections: Callable[[str], Mapping[str, str]],
    digests: Digests,
    package: Package | None = None,
) -> list[Handler]:
    """The hooks in one directory; `objections` says which of its files may not run.

    Those of a plugin are asked within its walls.
    """
    handlers: list[Handler] = []
    files = _listing(directory)
    if files is None:
        name = os.path.relpath(directory, os.path.dirname(os.path.dirname(directory)))
        why = f"`{directory}` cannot be read; `chmod u+rx {quote(directory)}`"
        return [_unavailable(HookFile(name, directory, ()), origin, HandlerStatus.BROKEN, why)]
    if not files:
        return []
    objected = objections(directory)

    def last_answer(path: str) -> FileDeclarations | None:
        """What a file said when it was a hook, as long as nobody agreed to what it is now."""
        last = answers.last(path)
        return last if last and (refusal(os.path.basename(path), objected) or _was_executable(last)) else None

    found = list(_candidates(files, last_answer))
    why_not = {one.path: refusal(os.path.basename(one.path), objected) for one in found}
    ready = [one for one in found if one.status is HandlerStatus.ACTIVE and not why_not[one.path]]
    said = answers.ask(((one.path, one.found) for one in ready), package)
    for one in found:
        why, last = why_not[one.path], answers.last(one.path.removesuffix(DISABLED))
        # Disabling a hook is a change like any other: until it is agreed to, one that worked stays, refused.
        if one.status is HandlerStatus.DISABLED and not (why and last):
            handlers.append(_unavailable(one, origin, one.status, one.reason))
        elif why:
            both = f"{why}; besides, {one.reason}" if one.status is HandlerStatus.BROKEN else why
            handlers += _out_of_order(one, origin, last, HandlerStatus.UNTRUSTED, both)
        elif one.status is HandlerStatus.BROKEN:
            handlers += _out_of_order(one, origin, last, HandlerStatus.BROKEN, one.reason)
        elif problem := said[one.path].problem:
            handlers += _out_of_order(one, origin, last, HandlerStatus.BROKEN, problem)
        else:
            digest = digests.of(one.path, one.found)
            handlers += [replace(each, digest=digest) for each in _declared(one, origin, said[one.path])]
    return handlers


def candidates(directory: str) -> list[str]:
    """The paths of what may be hooks in a directory, as far as can be told without asking them."""
    there = _candidates(_listing(directory) or {}, lambda path: None)
    return [one.path for one in there if one.status is not HandlerStatus.DISABLED]


def gone(
    base: Path, origin: Origin, answers: DeclarationCache, agreed: Callable[[str], list[str]]
) -> list[Handler]:
    """Hooks that worked and are not there any more: missing at their places until their owner agrees to that."""
    handlers: list[Handler] = []
    for place in paths.HOOK_DIRS:
        for path in agreed(str(base / place)):
            name, last = os.path.basename(path), answers.last(path)
            if last is None or os.path.isfile(path + DISABLED):
                continue  # a helper, or renamed: then it is found under its new name
            one = HookFile(
                name.removesuffix(".py") if is_module(path, last.signature) else name, path, last.signature
            )
            why = "it was agreed to and is gone; bring it back, or run `samuel trust` to agree that it is gone"
            handlers += _out_of_order(one, origin, last, HandlerStatus.BROKEN, why)
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
    """What may be a hook. A file that was one stays one until its owner agrees to what it is now."""
    for name in sorted(files):
        path = files[name].path
        if name.endswith("~"):
            continue
        if name != (shown := file_name(name)):  # it could be named in no payload, journal or agreement
            yield HookFile(shown, file_name(path), (), HandlerStatus.BROKEN, "its name is not UTF-8; rename it")
            continue
        try:
            found = signature(files[name].stat())
        except OSError:
            yield HookFile(
                name, path, (), HandlerStatus.BROKEN, f"`{path}` is a link to something that does not exist"
            )
            continue
        mode, last = found[4], last_answer(path)
        if stat.S_ISDIR(mode):
            continue  # of helpers
        if not stat.S_ISREG(mode):
            if last:
                yield HookFile(
                    name, path, last.signature, HandlerStatus.BROKEN, f"`{path}` is not a file any more"
                )
            continue
        if name.endswith(DISABLED):
            if name.removesuffix(DISABLED) not in files:
                shown = name.removesuffix(DISABLED)
                yield HookFile(shown, path, found, HandlerStatus.DISABLED, f"the file is named `{name}`")
        elif name + DISABLED in files:
            yield HookFile(name, path, found, HandlerStatus.DISABLED, f"`{name}{DISABLED}` lies beside it")
        elif mode & 0o111:
            yield HookFile(name, path, found)
        else:
            yield from _not_executable(name, path, found, last)


def _not_executable(name: str, path: str, found: Signature, last: FileDeclarations | None) -> Iterator[HookFile]:
    looks = _looks_like(path)
    if looks is UNREADABLE:
        yield HookFile(
            name, path, found, HandlerStatus.BROKEN, f"`{path}` cannot be read; `chmod +r {quote(path)}`"
        )
    elif looks is MODULE:
        yield HookFile(name.removesuffix(".py"), path, found)
    elif last and _was_executable(last):
        yield HookFile(name, path, found, HandlerStatus.BROKEN, f"it is not executable; `chmod +x {quote(path)}`")
    elif last:
        yield HookFile(name.removesuffix(".py"), path, found, HandlerStatus.BROKEN, "it declares no hook any more")
    elif looks is PROGRAM:
        otherwise = "; if it is no hook but a helper, put it into a directory of its own"
        why = f"it is not executable; `chmod +x {quote(path)}`{otherwise}"
        yield HookFile(name, path, found, HandlerStatus.BROKEN, why)


def _was_executable(answer: FileDeclarations) -> bool:
    return bool(answer.signature) and bool(answer.signature[4] & 0o111)


MODULE, PROGRAM, HELPER, UNREADABLE = "module", "program", "helper", "unreadable"


def _looks_like(path: str) -> str:
    """What a file that is not executable was probably meant to be. It is read, never run."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            text = file.read(1 << 20)
    except OSError:
        return UNREADABLE
    if path.endswith(".py"):
        return MODULE if b"samuel" in text else HELPER
    return PROGRAM if text.startswith((b"#!", b"\x7fELF")) else HELPER


def _declared(one: HookFile, origin: Origin, answer: FileDeclarations) -> list[Handler]:
    return [
        declared_handler(said, one.name, origin, position, path=one.path, module=is_module(one.path, one.found))
        for position, said in enumerate(answer.declared)
    ]


def declared_handler(
    said: HandlerDeclaration, owner: str, origin: Origin, position: int, *, path: str = "", module: bool = True
) -> Handler:
    """The handler that a declaration describes."""
    status, reason = HandlerStatus.ACTIVE, ""
    timeout, role = None, None
    if said.timeout is not None:
        try:
            timeout = parse_duration(said.timeout)
        except ValueError as error:
            status, reason = HandlerStatus.BROKEN, f"`timeout` {error}"
    if said.role is not None:
        try:
            role = Role(said.role)
        except ValueError:
            # It may have been meant to be a guard: one that does not work denies.
            why = f"`role` must be one of {', '.join(Role)}, not `{said.role}`"
            status, reason, role = HandlerStatus.BROKEN, why, Role.GUARD
    name = owner if said.function in ("", owner.replace("-", "_")) else f"{owner}:{said.function}"
    return Handler(
        name=name,
        event=said.event,
        origin=origin,
        runtime="python" if module else "exec",
        owner=owner,
        path=path,
        entry=said.function if module else "run",
        dialect=said.dialect,
        order=said.order,
        strict=said.strict,
        timeout=timeout,
        role=role,
        declared=position,
        status=status,
        reason=reason,
    )


def _out_of_order(
    one: HookFile, origin: Origin, last: FileDeclarations | None, status: HandlerStatus, why: str
) -> list[Handler]:
    """Not to be run: in the place it had when it worked, if it ever did."""
    places = _declared(one, origin, last) if last is not None else []
    if not places:
        return [_unavailable(one, origin, status, why)]
    return [replace(handler, status=status, reason=why) for handler in places]


def _unavailable(one: HookFile, origin: Origin, status: HandlerStatus, reason: str) -> Handler:
    module = is_module(one.path, one.found)
    return Handler(
        name=one.name,
        event="",
        origin=origin,
        runtime="python" if module else "exec",
        owner=one.name,
        path=one.path,
        status=status,
        reason=reason,
    )
