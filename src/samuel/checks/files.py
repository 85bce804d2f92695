"""Which files of a project its checks run or read: an attempt that changes one of them is judged without it first.

The check commands are read, not run: a Makefile's recipes, the scripts of package.json, shell scripts, and the
test runners and linters that these start. `read` gives the files as they were when they were last verified, so
that an agent's own change of a Makefile cannot take anything off the list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import listed
from samuel.checks.commands import CommandReader
from samuel.checks.pytest_settings import TextReader
from samuel.checks.runners import TEST_RUNNERS, looks_like_test
from samuel.checks.shell_words import simple_commands
from samuel.evidence.conventions import is_test_file
from samuel.evidence.ownership import OwnedTests, owned_by_files
from samuel.files.globs import chosen
from samuel.files.inside import read_inside
from samuel.tasks.task import Task

MAX_BYTES = 1 << 20  # of a file that is read for what it runs
# What they read is in the command itself.
_PLAIN_COMMANDS = frozenset(("true", "false", "test", "[", ":", "echo", "printf", "exit", "sleep", "touch", "rm"))
MAX_RUST = 200  # files that are searched for tests
MAX_GROUPS = 5  # that are named for one command


@dataclass(frozen=True)
class CheckFiles:
    """The files of the checks: by name, and by patterns that also choose files which do not exist yet."""

    files: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    runners: frozenset[str] = frozenset()
    """The test runners and linters that take part: `pytest`, `jest`, `ruff`, ..."""
    steps: frozenset[str] = frozenset()
    """What was gone through: `make:test`, `script:lint`, ..."""
    present: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For each command the files that are there."""

    @classmethod
    def of(cls, commands: Iterable[str], files: Sequence[str], read: TextReader) -> CheckFiles:
        """The files of these commands. `files` are the project's; `read` gives "" for a file that is missing."""
        parts = [cls._of_command(command, files, read) for command in dict.fromkeys(commands)]
        return cls(
            frozenset().union(*(part.files for part in parts)),
            tuple(dict.fromkeys(pattern for part in parts for pattern in part.patterns)),
            frozenset().union(*(part.runners for part in parts)),
            frozenset().union(*(part.steps for part in parts)),
            tuple(command for part in parts for command in part.present),
        )

    @classmethod
    def _of_command(cls, command: str, files: Sequence[str], read: TextReader) -> CheckFiles:
        reader = CommandReader(frozenset(files), read)
        reader.line(command)
        part = cls(
            frozenset(reader.named), tuple(reader.patterns), frozenset(reader.runners), frozenset(reader.steps)
        )
        return cls(
            part.files, part.patterns, part.runners, part.steps, ((command, part.touched(sorted(set(files)))),)
        )

    def touched(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of the paths that belong to the checks, also if they are new."""
        return tuple(
            path
            for path in paths
            if (path in self.files or chosen(path, self.patterns)) and not path.startswith(VOLATILE_DIRS)
        )

    def describe(self) -> list[str]:
        """A line for each command: what it runs or reads, in short."""
        return [f"{command}: {_grouped(paths)}" for command, paths in self.present if paths]


def without_tests(commands: Iterable[str], files: Sequence[str], read: TextReader) -> list[str]:
    """Those of the commands that are not linters alone, and of which no test is known.

    A file that is a test by its name is protected whatever runs it, and so are the tests inside of Rust files.
    """
    rust = [path for path in files if path.endswith(".rs")][:MAX_RUST]
    if any(map(is_test_file, files)) or any("#[test]" in read(path) for path in rust):
        return []
    checks = {command: CheckFiles.of([command], files, read) for command in dict.fromkeys(commands)}
    return [
        command
        for command, check in checks.items()
        if not (check.runners and check.runners.isdisjoint(TEST_RUNNERS))
        and any(part.program not in _PLAIN_COMMANDS for part in simple_commands(command))
        and not any(looks_like_test(path) for _, paths in check.present for path in paths)
    ]


def without_tests_warning(command: str) -> str:
    """What a person must know about such a command."""
    return (
        f"no test file was found for `{command}`: nothing is known about what it reads, so an attempt may change "
        "its tests; `protect_existing` in samuel.toml keeps them as they are"
    )


def disk_reader(root: Path) -> TextReader:
    """Reads the files of a project as they are now; links are not followed."""

    def read(path: str) -> str:
        try:
            return read_inside(root, path, limit=MAX_BYTES).decode("utf-8", "replace")
        except (OSError, SamuelError):
            return ""

    return read


class ProtectedFiles(NamedTuple):
    """What `protect` and `protect_existing` of samuel.toml choose."""

    always: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()

    def of(self, paths: Iterable[str], is_existing: Callable[[str], bool]) -> tuple[str, ...]:
        """The paths that may not be changed; `is_existing` says whether one was there before the attempt."""
        return tuple(
            path
            for path in paths
            if (self.always and chosen(path, self.always))
            or (self.existing and chosen(path, self.existing) and is_existing(path))
        )


def owned(task: Task, paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that the task's `Files:` name: the file itself, a directory above it, or a glob."""
    return OwnedTests(owned_by_files(task)).of(paths)


def _grouped(paths: Sequence[str]) -> str:
    """`Makefile, tests/ (12 files), setup.cfg`"""
    groups: dict[str, list[str]] = {}
    for path in paths:
        directory, _, _ = path.partition("/")
        groups.setdefault(f"{directory}/" if "/" in path else path, []).append(path)
    texts = [
        f"{os.path.commonpath(group)}/ ({len(group)} files)" if len(group) > 1 else group[0]
        for group in groups.values()
    ]
    return listed(texts, MAX_GROUPS)
