"""The programs that a command line or a shell script runs, without those that only start them: for naming files.

`samuel.shell` reads the text. This adds what only checks need: wrappers of test runners, and in which
directory each program runs. What cannot be understood is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from samuel import shell

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
# Programs that run the rest of their words, beside those that `samuel.shell` knows.
_WRAPPERS = ("npx", "bunx", "xvfb-run", "cross-env", "dotenv", "nyc", "c8", "corepack")
# The same after a word of their own: `coverage run -m pytest`.
_RUN_WRAPPERS = ("coverage", "pixi")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


class SimpleCommand(NamedTuple):
    """One program with its arguments, and the directory below the project that it runs in ("" is the root)."""

    words: tuple[str, ...]
    directory: str = ""
    wrappers: tuple[str, ...] = ()
    """The programs that start it: `nyc` of `nyc tape`."""

    @property
    def program(self) -> str:
        """The name without its directory and without a version, as in `python3.12`."""
        name = self.words[0].rpartition("/")[2]
        return re.sub(r"^(python|pytest|ruby|node)-?[\d.]+$", r"\1", name)

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]


def simple_commands(text: str, directory: str = "") -> Iterator[SimpleCommand]:
    """The simple commands of a command line, without wrappers such as `env` or `poetry run`; `cd` is followed."""
    commands = [command for command in shell.commands(text).commands if command.words]
    wrappers: tuple[str, ...] = ()
    for command, following in zip(commands, (*commands[1:], None), strict=False):
        words = command.words
        if following is not None and _starts(words, following.words):
            wrappers += (command.program,)
        elif command.program == "cd" and len(words) == 2:
            directory = below(directory, words[1])
        elif wrapped := _wrapped(command.program, words):
            for inner in simple_commands(shlex.join(wrapped), directory):
                yield inner._replace(wrappers=(*wrappers, command.program, *inner.wrappers))
            wrappers = ()
        elif not _runs_its_argument(command.program, words):  # its commands follow
            yield SimpleCommand(words, directory, wrappers)
            wrappers = ()


def _starts(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether the first command is one like `timeout 5`, before the other."""
    return len(words) > len(others) and words[-len(others) :] == others


def _wrapped(program: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the command that a wrapper of test runners starts; () if this is none."""
    if program in _WRAPPERS:
        rest = words[1:]
    elif program in _RUN_WRAPPERS and words[1:2] == ("run",):
        rest = words[2:]
    else:
        return ()
    while rest and rest[0] != "-m" and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        rest = rest[1:]
    return ("python", *rest) if rest[:1] == ("-m",) else rest


def _runs_its_argument(program: str, words: tuple[str, ...]) -> bool:
    """Whether this is `sh -c '...'`."""
    return program in _SHELLS and any(re.fullmatch(r"-[a-z]*c[a-z]*", word) for word in words[1:])


def below(directory: str, path: str) -> str:
    """`path`, as written in `directory`, relative to the project; what leads outside stays as it is."""
    if path.startswith(("/", "~", "$")):
        return path
    parts = directory.split("/") if directory else []
    for name in path.split("/"):
        if name == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    return "/".join(parts)
