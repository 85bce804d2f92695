"""A call as the rules of `shell_guard` see it: its commands, the files that these use, and what is around it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from glob import escape, iglob
from itertools import islice

from samuel.shell import Opaque, Reading, ShellCommand, commands
from samuel.shipped.shell_guard.file_uses import uses_of
from samuel.shipped.shell_guard.git_words import GIT_COMMANDS, subcommand_of
from samuel.shipped.shell_guard.guarded_command import FileMode, FileUse, GuardedCommand
from samuel.shipped.shell_guard.path_words import ShellVariables, path_words
from samuel.shipped.shell_guard.places import (
    BUILD_FILES,
    Places,
    ResolvedPath,
    is_build_directory,
    real_path,
)
from samuel.shipped.shell_guard.unread_code import command_texts
from samuel.shipped.shell_guard.work_tree import GuardedWorkTree
from samuel.shipped.shell_guard.written_scripts import written_scripts

MAX_CODE_TEXTS = 20
MAX_DIRECTORIES = 4
MAX_MATCHES = 200
MAX_PATTERN = 200
MAX_LOOKED_AT = 5_000

_SHELL = re.compile(r"(?:ba|da|z|k|a)?sh|source|\.")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_SUBSHELL_WITH_CD = re.compile(r"\([^)]*\b(?:cd|pushd)\b|\bpopd\b|\bcd\b[^;&|]*\|")


class GuardedShellCall:
    """The commands of one call. What is looked up on the disk is looked up when a rule asks for it."""

    def __init__(
        self,
        lines: Sequence[str],
        places: Places,
        *,
        directories: Sequence[str] = (),
        environment: Mapping[str, str],
        tool_uses: Sequence[tuple[FileMode, str]] = (),
    ) -> None:
        self.lines = tuple(lines)
        self.places = places
        self.environment = environment
        self.work_tree = GuardedWorkTree(places.root, environment)
        self._start = [os.path.join(places.root, directory) for directory in directories] or [places.root]
        self._tool_uses = tool_uses
        self._readings = [commands(line) for line in lines]

    @cached_property
    def opaque(self) -> tuple[Opaque, ...]:
        parts = [part for reading in self._readings for part in reading.opaque]
        parts += (
            Opaque("a script that is written and run", text, "code", runner, text)
            for runner, text in self._written_scripts
            if not _SHELL.fullmatch(runner)
        )
        return tuple(parts)

    @cached_property
    def _written_scripts(self) -> list[tuple[str, str]]:
        typed = [command for reading in self._readings for command in reading.commands]
        return written_scripts(self.lines, typed)

    @cached_property
    def assignments(self) -> tuple[str, ...]:
        return tuple(text for reading in self._readings for text in reading.assignments)

    @cached_property
    def variables(self) -> ShellVariables:
        return ShellVariables(self.assignments, self.environment, self._start[0])

    @cached_property
    def commands(self) -> tuple[GuardedCommand, ...]:
        """All commands, also those in the code of other languages, each with the directories it may run in."""
        guarded: list[GuardedCommand] = []
        everywhere = list(self._start)
        for line, reading in zip(self.lines, self._readings, strict=True):
            current = list(self._start)
            is_unclear = bool(_SUBSHELL_WITH_CD.search(line))
            inner = [
                *self._code_commands(reading),
                *_module_commands(reading.commands),
                *self._script_commands(reading),
            ]
            for command in (*reading.commands, *inner, *self._alias_commands(reading.commands)):
                if command.program in ("cd", "pushd", "chdir") and not command.starter:
                    goes_back = command.words[1:2] == ("-",)
                    current = list(everywhere) if goes_back else self._after(command, current)
                    everywhere += [directory for directory in current if directory not in everywhere]
                places = everywhere if is_unclear else current
                guarded.append(GuardedCommand(command, tuple(places[:MAX_DIRECTORIES])))
        return tuple(guarded)

    @cached_property
    def programs(self) -> frozenset[str]:
        return frozenset(command.program for command in self.commands)

    @cached_property
    def file_uses(self) -> tuple[FileUse, ...]:
        """Every file that the call names, by a tool or in a command."""
        tools = [
            FileUse(mode, target, path)
            for mode, path in self._tool_uses
            for target in self.resolved(path, self._start)
            if target is not None
        ]
        return (*tools, *(use for command in self.commands for use in uses_of(command, self.resolved)))

    def resolved(self, word: str, directories: Sequence[str]) -> list[ResolvedPath | None]:
        """The paths that a word may stand for; None for one that is not known at all."""
        paths: list[ResolvedPath | None] = []
        for item in path_words(word, directories, self.variables):
            if not item.path:
                paths.append(None)
                continue
            is_directory = item.contents or word.endswith("/")
            path = real_path(item.path, follow=is_directory)
            where = self.places.where(path)
            matches = _matches(path, item.pattern) if item.pattern and where.is_project else None
            if item.pattern and where.is_project and _is_build_pattern(item.pattern):
                matches = [os.path.join(path, item.pattern)]
            if matches is None:
                paths.append(ResolvedPath(path, where, item.contents, item.pattern))
            else:
                paths += (ResolvedPath(match, self.places.where(match)) for match in matches)
        return paths

    def _after(self, command: ShellCommand, current: list[str]) -> list[str]:
        targets = [word for word in command.words[1:] if not word.startswith("-") or word == "-"] or ["~"]
        paths = [path.path for path in self.resolved(targets[0], current) if path is not None]
        return paths or current

    def _alias_commands(self, typed: Sequence[ShellCommand]) -> list[ShellCommand]:
        """What the aliases stand for that git commands use, by the settings of the repository and of the user."""
        inner: list[ShellCommand] = []
        for command in typed:
            name, rest = subcommand_of(command.words[1:]) if command.program == "git" else ("", ())
            alias = self.work_tree.alias(name) if name and name not in GIT_COMMANDS else ""
            if alias:
                text = alias[1:] if alias.startswith("!") else f"git {alias}"
                reading = commands(f"{text} {shlex.join(rest)}")
                inner += (item._replace(starter=item.starter or "git") for item in reading.commands)
        return inner

    def _script_commands(self, reading: Reading) -> list[ShellCommand]:
        """The commands of shell scripts that the call writes and runs."""
        if reading is not self._readings[-1]:
            return []
        scripts = [(runner, text) for runner, text in self._written_scripts if _SHELL.fullmatch(runner)]
        return [
            command._replace(starter=runner)
            for runner, text in scripts[:MAX_CODE_TEXTS]
            for command in commands(text).commands
        ]

    def _code_commands(self, reading: Reading) -> list[ShellCommand]:
        """The commands in texts of code that starts programs: `os.system("rm -rf x")`."""
        inner: list[ShellCommand] = []
        for part in reading.opaque:
            for text in command_texts(part.code)[:MAX_CODE_TEXTS] if part.code else ():
                inner += (command._replace(starter=part.program) for command in commands(text).commands)
        return inner


def _matches(directory: str, pattern: str) -> list[str] | None:
    """The files that a pattern stands for now; None if there are too many of them."""
    if len(pattern) > MAX_PATTERN:
        return None
    if "**" in pattern:
        return _deep_matches(directory, pattern)
    matches = list(islice(iglob(os.path.join(escape(directory), pattern)), MAX_MATCHES + 1))
    return matches if len(matches) <= MAX_MATCHES else None


def _deep_matches(directory: str, pattern: str) -> list[str] | None:
    """Likewise for a pattern with `**`, in directories at any depth."""
    glob = pattern.replace("**/", "*").replace("**", "*")
    matches: list[str] = []
    looked_at = 0
    for parent, directories, files in os.walk(directory):
        directories[:] = [name for name in directories if name != ".git"]
        looked_at += len(files) + len(directories)
        if looked_at > MAX_LOOKED_AT:
            return None
        paths = (os.path.join(parent, name) for name in (*files, *directories))
        matches += (path for path in paths if fnmatchcase(path[len(directory) + 1 :], glob))
    return matches if len(matches) <= MAX_MATCHES else None


def _is_build_pattern(pattern: str) -> bool:
    """`**/*.pyc`, `**/__pycache__`: whatever matches is build output."""
    name = pattern.rpartition("/")[2]
    return "**" in pattern and (is_build_directory(name) or name in BUILD_FILES)


def _module_commands(typed: Sequence[ShellCommand]) -> list[ShellCommand]:
    """`python -m pip install x`: a module of Python that is a program too."""
    inner: list[ShellCommand] = []
    for command in typed:
        words = command.words
        if _PYTHON.fullmatch(command.program) and "-m" in words[:-1]:
            inner.append(
                command._replace(words=words[words.index("-m") + 1 :], starter=command.program, redirects=())
            )
    return inner
