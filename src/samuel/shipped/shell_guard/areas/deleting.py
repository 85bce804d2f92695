"""Deleting outside the project, or what git cannot bring back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from samuel.shipped.shell_guard.areas import found_files, overwriting
from samuel.shipped.shell_guard.areas.found_files import gets_found_files, is_started_by_find
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand
from samuel.shipped.shell_guard.places import ResolvedPath, Where
from samuel.shipped.shell_guard.unread_code import deletes_files
from samuel.shipped.shell_guard.unsaved_files import has_unsaved

_REMOVERS = (
    *("rm", "unlink", "shred", "srm", "rimraf", "trash", "trash-put", "rmtrash", "gio", "del", "erase", "rd"),
    *("remove-item", "ri", "wipe"),
)
_DESTROYED = frozenset({Where.ABOVE, Where.HOME, Where.SYSTEM, Where.PROJECT})


class Deletion(NamedTuple):
    """A path that a command deletes, or the whole of what is in it."""

    target: ResolvedPath | None
    """None if it is not known."""
    recursive: bool


def deletions(command: GuardedCommand, call: GuardedShellCall) -> Iterator[Deletion]:
    recursive = command.has("-r", "-R", "--recursive") or command.program in ("rimraf", "rd", "gio", "trash-put")
    operands = command.operands
    if command.program == "gio":
        operands = operands[1:] if operands[:1] in (("trash",), ("remove",)) else ()
    for operand in operands:
        for target in call.resolved(operand, command.directories):
            yield Deletion(target, recursive)
    if command.command.open_ended and command.command.starter != "alias":
        yield Deletion(None, recursive)


def _deletes_a_tree_of_others(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return not is_started_by_find(command) and any(
        target is not None
        and (target.where in _DESTROYED if recursive or target.contents else target.where is Where.ABOVE)
        for target, recursive in deletions(command, call)
    )


def _deletes_git(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return any(
        target is not None and target.where is Where.GIT and (recursive or target.contents)
        for target, recursive in deletions(command, call)
    )


def _deletes_outside(command: GuardedCommand, call: GuardedShellCall) -> bool:
    outside = (Where.OUTSIDE, Where.SYSTEM, Where.DEVICE, Where.HOME)
    return not is_started_by_find(command) and any(
        target is not None and target.where in outside for target, _ in deletions(command, call)
    )


def _deletes_temporary_root(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return any(
        target is not None and target.where is Where.TEMPORARY_ROOT for target, _ in deletions(command, call)
    )


def _deletes_unknown(command: GuardedCommand, call: GuardedShellCall) -> bool:
    if is_started_by_find(command) or gets_found_files(command, call):
        return False
    return any(target is None and recursive for target, recursive in deletions(command, call))


def _deletes_unsaved(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Changed, untracked or ignored files that are no build output."""
    if command.program == "git" or is_started_by_find(command):
        return False
    paths = {
        path
        for target, _ in deletions(command, call)
        if target is not None and target.where.is_project
        for path in _existing(target)
    }
    return has_unsaved(paths, call)


def _existing(target: ResolvedPath) -> Iterator[str]:
    """The file that a target stands for, if there is one."""
    if os.path.lexists(target.path):
        yield target.path


def _code_deletes(call: GuardedShellCall) -> str:
    """Code of another language that deletes files, outside the project or by a name that it makes itself."""
    for part in call.opaque:
        if part.code and deletes_files(part.code):
            return part.text
    return ""


RULES = GuardArea(
    "deleting",
    (
        GuardRule(
            "delete-tree",
            "deny",
            "rm -rf ~",
            "It deletes a whole tree: the file system, a home directory, a directory of the system, or the one that"
            " the project is in",
            about_command=_deletes_a_tree_of_others,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-git",
            "deny",
            "rm -rf .git",
            "It deletes the history of the project, and every commit that was not pushed",
            about_command=_deletes_git,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-outside",
            "deny",
            "rm -rf ../other",
            "It deletes something outside the project, which git cannot bring back",
            about_command=_deletes_outside,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-temporary",
            "ask",
            "rm -rf /tmp/*",
            "It deletes temporary files of every program, not only its own",
            about_command=_deletes_temporary_root,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-unknown",
            "ask",
            'rm -rf "$DIR"',
            "It is not known what it deletes: an empty variable or another input may name anything",
            about_command=_deletes_unknown,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-unsaved",
            "ask",
            "rm notes.txt",
            "It deletes work that git cannot bring back: changed, untracked or ignored files",
            about_command=_deletes_unsaved,
            programs=_REMOVERS,
        ),
        *found_files.RULES,
        *overwriting.RULES,
        GuardRule(
            "code-deletes",
            "ask",
            "python3 -c \"import shutil; shutil.rmtree('data')\"",
            "Code of another language deletes files; what it deletes is not known before it runs",
            about_call=_code_deletes,
        ),
    ),
)
