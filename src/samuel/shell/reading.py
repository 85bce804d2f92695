"""The records that a reading of shell text is made of."""

from __future__ import annotations

from typing import NamedTuple


class Redirect(NamedTuple):
    """A file that a command reads from or writes to.

    Copies of descriptors (`2>&1`) and here-documents name no file, and are left out.
    """

    operator: str
    """`<`, `>`, `>>`, `>|`, `&>`, `&>>` or `<>`."""
    target: str
    """The file, without its quotes."""
    literal: bool = True
    """False if the shell fills in a part of `target`, which then is as it was typed: `$HOME/log`."""

    @property
    def writes(self) -> bool:
        """True if the file is written to."""
        return ">" in self.operator


class ShellCommand(NamedTuple):
    """A command that the shell, or a program like `sudo`, would start."""

    words: tuple[str, ...]
    """The program and its arguments, without quotes. What the shell fills in is as it was typed: `$HOME/x`. Empty
    for redirects of a whole group: `{ a; b; } > file`."""
    redirects: tuple[Redirect, ...] = ()
    unknown: frozenset[int] = frozenset()
    """The indexes of words with a part that cannot be known, like a variable. Each may become several words."""
    patterns: frozenset[int] = frozenset()
    """The indexes of words that the shell replaces by the names of files: `*.py`."""
    open_ended: bool = False
    """True if more arguments follow that are not in the text: those of `xargs`, or of an alias."""

    @property
    def program(self) -> str:
        """The name of the program without its directory; empty if there is none."""
        return self.words[0].rpartition("/")[2] if self.words else ""


class Opaque(NamedTuple):
    """A part of the text that cannot be understood without running it."""

    reason: str
    """Why it cannot be known."""
    text: str
    """The part, cut to 200 characters."""


class Reading(NamedTuple):
    """What a shell would run for a text."""

    commands: tuple[ShellCommand, ...]
    """In the order of the text; a program like `sudo` comes before the command that it starts."""
    opaque: tuple[Opaque, ...]
    """Empty if everything could be read."""
