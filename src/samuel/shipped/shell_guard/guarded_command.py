"""One command of a call, and a file that a call names."""

from __future__ import annotations

from typing import Literal, NamedTuple

from samuel.shell import ShellCommand
from samuel.shipped.shell_guard.command_pattern import has_option
from samuel.shipped.shell_guard.places import ResolvedPath

FileMode = Literal["read", "write", "delete", "use"]
"""What is done with a file; `use` where that is not known."""


class FileUse(NamedTuple):
    """A file that a call names."""

    mode: FileMode
    file: ResolvedPath
    text: str
    """The part of the call that names it."""
    program: str = ""
    """Empty for a tool of the agent."""

    @property
    def changes(self) -> bool:
        return self.mode != "read"


class GuardedCommand(NamedTuple):
    """A command, and the directories that it may run in."""

    command: ShellCommand
    directories: tuple[str, ...]

    @property
    def program(self) -> str:
        """In lower case: some file systems do not tell the difference."""
        return self.command.program.casefold()

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.command.words[1:]

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are no options, if none of the options has a value of its own."""
        words: list[str] = []
        options = True
        for word in self.arguments:
            if options and word == "--":
                options = False
            elif not options or not word.startswith("-") or word == "-":
                words.append(word)
        return tuple(words)

    def has(self, *options: str) -> bool:
        return any(has_option(self.arguments, option) for option in options)

    @property
    def text(self) -> str:
        return " ".join(self.command.words)
