"""Whether a rule about programs, arguments and paths applies to the commands of a call."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from samuel.files.globs import any_chosen
from samuel.shell import Opaque, Redirect, ShellCommand
from samuel.shipped.policy_guard.command_paths import NamedPaths

_SHORT_FLAGS = re.compile(r"-[A-Za-z]+")

_RECURSIVE, _FORCE = {"--recursive": "r", "R": "r"}, {"--force": "f"}
SAME_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "rm": {**_RECURSIVE, **_FORCE, "--dir": "d"},
    "cp": {**_RECURSIVE, **_FORCE},
    **dict.fromkeys(("mv", "ln", "shred", "git", "docker", "podman"), _FORCE),
    **{program: {"--recursive": "R"} for program in ("chmod", "chown", "chgrp")},
    "sed": {"--in-place": "i"},
}
"""Options that mean the same, by program: the letter that stands for a long name or for another letter."""


class Applies(IntEnum):
    NO = 0
    MAYBE = 1
    """The text of the command does not tell."""
    YES = 2


class CommandConditions(NamedTuple):
    program: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class ShellCall(NamedTuple):
    """The commands of a call, as they were read."""

    commands: tuple[ShellCommand, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    named_by: Callable[[ShellCommand], NamedPaths] = lambda _: NamedPaths(frozenset(), frozenset(), True)
    covers: Callable[[frozenset[str], Sequence[str]], bool] = lambda _directories, _patterns: False


def restricts(conditions: CommandConditions, call: ShellCall) -> Applies:
    """For a rule that denies or asks: one command is enough, and doubt is an answer of its own."""
    verdicts = [_restricts(conditions, command, call) for command in call.commands]
    return max(*verdicts, Applies.MAYBE if call.opaque else Applies.NO, Applies.NO)


def permits(conditions: CommandConditions, call: ShellCall) -> bool:
    """For a rule that allows: every command must match with all of its words, and all of it could be read."""
    return bool(call.commands) and not call.opaque and all(_permits(conditions, item) for item in call.commands)


def _restricts(conditions: CommandConditions, command: ShellCommand, call: ShellCall) -> Applies:
    if conditions.program and not _is_program(command, conditions.program, ignore_case=True):
        return Applies.MAYBE if command.words and 0 in command.unknown | command.patterns else Applies.NO
    return min(_arguments(conditions.arguments, command), _paths(conditions.paths, command, call))


def _arguments(entries: Sequence[str], command: ShellCommand) -> Applies:
    same = SAME_OPTIONS.get(command.program.casefold(), {})
    if not entries or any(_has_arguments(entry, command.words[1:], same) for entry in entries):
        return Applies.YES
    is_complete = not command.open_ended and not command.unknown - {0}
    return Applies.NO if is_complete else Applies.MAYBE


def _paths(patterns: Sequence[str], command: ShellCommand, call: ShellCall) -> Applies:
    if not patterns:
        return Applies.YES
    patterns = [os.path.expanduser(pattern) for pattern in patterns]  # `~/.ssh/**`
    named = call.named_by(command)
    if any_chosen(named.names, patterns) or call.covers(named.directories, patterns):
        return Applies.YES
    return Applies.NO if named.complete else Applies.MAYBE


def _is_program(command: ShellCommand, globs: Sequence[str], ignore_case: bool) -> bool:
    names = {command.program, *command.words[:1]} - {""}
    if ignore_case:  # some file systems do
        names, globs = {name.casefold() for name in names}, [glob.casefold() for glob in globs]
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


def _has_arguments(entry: str, arguments: Sequence[str], same: Mapping[str, str]) -> bool:
    """Has a command all words of an entry, in any order?

    `-rf` is in `-r -f` and in `-fvr`, `--force` in `--forc` and in `--force=x`. By `same`, the program's row of
    SAME_OPTIONS, `-rf` of `rm` is also in `-Rf` and in `--recursive --force`.
    """
    letters = {letter for argument in arguments for letter in _letters(argument, same)}

    def has(glob: str) -> bool:
        options = _letters(glob, same)
        return any(_fits(argument, glob) for argument in arguments) or (bool(options) and options <= letters)

    return all(map(has, entry.split()))


def _letters(word: str, same: Mapping[str, str]) -> set[str]:
    """The options that a word has, each by its letter; none for another word."""
    if _SHORT_FLAGS.fullmatch(word):
        return {same.get(letter, letter) for letter in word[1:]}
    name = word.partition("=")[0]
    if len(name) < 3 or not name.startswith("--"):
        return set()
    return {letter for long, letter in same.items() if long.startswith(name)}  # GNU takes abbreviations


def _fits(argument: str, glob: str) -> bool:
    name = argument.partition("=")[0] if argument.startswith("--") else argument
    is_abbreviation = len(name) > 3 and name.startswith("--") and glob.startswith(name)
    return fnmatchcase(argument, glob) or fnmatchcase(name, glob) or is_abbreviation


def _permits(conditions: CommandConditions, command: ShellCommand) -> bool:
    if not command.words or command.open_ended or any(map(_changes_a_file, command.redirects)):
        return False
    if conditions.program and not _is_program(command, conditions.program, ignore_case=False):
        return False
    if not conditions.arguments:
        return True
    arguments = command.words[1:]
    return not (command.unknown or command.patterns) and any(
        all(any(fnmatchcase(argument, glob) for glob in entry.split()) for argument in arguments)
        and all(any(fnmatchcase(argument, glob) for argument in arguments) for glob in entry.split())
        for entry in conditions.arguments
    )


def _changes_a_file(redirect: Redirect) -> bool:
    return redirect.writes and redirect.target != "/dev/null"
