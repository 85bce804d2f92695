"""Sealed checks: programs outside of the project that judge an attempt, and that a sandboxed agent cannot read.

An agent that writes a function and its test can make both up. A sealed check is written by a person, and its
directory is hidden from the agent and from every other check.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.base.printable import file_name

EXAMPLE = "such as `../acceptance/run`"


class SealedCheckMissing(SamuelError):
    """A sealed check cannot run, so nothing can be said about an attempt."""


class SealedCheck(NamedTuple):
    command: str
    """As samuel.toml has it."""
    name: str
    """What is said about it where an agent can read: the name of the program, without its directory."""
    argv: tuple[str, ...]
    """The program, links followed, and its arguments; () if the command cannot be read."""
    directory: str
    """What is hidden from the agent."""

    @property
    def can_run(self) -> bool:
        return bool(self.argv) and os.path.isfile(self.argv[0]) and os.access(self.argv[0], os.X_OK)


def sealed_checks(commands: Iterable[str], root: Path, home: str) -> tuple[SealedCheck, ...]:
    """The sealed checks of samuel.toml, whose directory is `root`."""
    checks: list[SealedCheck] = []
    for command in commands:
        words = _words(command)
        program = os.path.realpath(root / _expanded(words[0], home)) if words else ""
        name = file_name(os.path.basename(program)) or "sealed check"
        same = sum(check.name.partition(" (")[0] == name for check in checks)
        argv = (program, *words[1:]) if words else ()
        checks.append(
            SealedCheck(command, f"{name} ({same + 1})" if same else name, argv, os.path.dirname(program))
        )
    return tuple(checks)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return []


def _expanded(path: str, home: str) -> str:
    return f"{home}{path[1:]}" if home and path.startswith("~/") else path


class SealedSurroundings(NamedTuple):
    """What a run needs beside its sealed checks."""

    project: Path
    """The top of the repository, or the project where there is none."""
    needed: Mapping[str, str]
    """Directories that must not be hidden from an agent: what each is, by its path."""
    volumes: Sequence[str] = ()
    """Directories that the sandbox shows to the agent."""


def sealed_problem(check: SealedCheck, around: SealedSurroundings) -> tuple[str, str] | None:
    """What is wrong with a sealed check, and what to do; None if it can be used."""
    subject = f"the sealed check `{check.command}`"
    if not check.argv or "/" not in _words(check.command)[0]:
        return f"{subject} does not name a program by its path", f"name one outside of the project, {EXAMPLE}"
    program = check.argv[0]
    if _is_below(program, str(around.project)):
        return (
            f"{subject} is inside the project, where an agent can read and change it",
            f"move it out of the repository, and name it by a path {EXAMPLE}",
        )
    if not os.path.lexists(program):
        return f"{subject} does not exist: there is no `{program}`", "write it, or correct `sealed_checks`"
    if not check.can_run:
        return f"{subject} is not an executable file", f"`chmod +x {shlex.quote(program)}` makes it one"
    for path, what in around.needed.items():
        if _is_below(path, check.directory):
            return (
                f"the directory of {subject} is hidden from the agent, and contains {what}",
                "put it into a directory of its own",
            )
    for volume in around.volumes:
        if _is_below(check.directory, volume) or _is_below(volume, check.directory):
            return (
                f"the sandbox shows the directory of {subject} to the agent: its volumes have `{volume}`",
                "take it out of `volumes`, or move the check",
            )
    return None


def _is_below(path: str, directory: str) -> bool:
    """Whether a path is a directory or below it, links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))
