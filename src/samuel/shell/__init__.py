"""What a shell command runs, for guards: `samuel.shell.commands(text)`.

    reading = samuel.shell.commands("cd build && sudo rm -rf $DIR | tee log")
    [command.program for command in reading.commands]    # ["cd", "sudo", "rm", "tee"]
    reading.opaque                                       # () where everything could be read

It reads text as bash does, without running anything: through pipes, lists, subshells, substitutions, functions and
here-documents, and through programs that start other programs (`sudo`, `env`, `xargs`, `find -exec`, `bash -c`).
Where the text alone does not tell what runs, `opaque` says why. What a program does after it was started (a script
file, `make`, an alias of git) is not read.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Opaque", "OpaqueKind", "Reading", "Redirect", "ShellCommand", "commands"]

OpaqueKind: TypeAlias = Literal[
    "syntax", "limit", "program", "arguments", "input", "file", "text", "code", "option", "value"
]
"""Why a part cannot be understood.

`syntax`: the parser does not understand it. `limit`: it is beyond a limit. `program`: the program is not known.
`arguments`: there may be options that run something. `input`: commands come through standard input. `file`: they
come from a file. `text`: the shell completes a text that is run. `code`: it is code of another language. `option`:
an option or a variable makes a program run something. `value`: a value is evaluated again.
"""


def commands(text: str) -> Reading:
    """The commands that a shell would run for `text`, and the parts of which that cannot be known.

    It never raises and never starts a process; the same text always gives the same reading. Its time is bounded:
    text that is too long, too deeply nested or too complicated is opaque.
    """
    from samuel.shell.reader import Reader  # loads the parser, which only readers of commands pay for

    reader = Reader()
    reader.read_script(text)
    return Reading(tuple(reader.commands), tuple(reader.opaque), tuple(reader.assignments))


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
    starter: str = ""
    """The program that starts it, like `sudo`; empty if the shell does."""

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
    kind: OpaqueKind = "syntax"
    program: str = ""
    """The program that makes it opaque; empty if the shell does."""
    code: str = ""
    """The code of another language, where it is in the text: that of `python -c`."""


class Reading(NamedTuple):
    """What a shell would run for a text."""

    commands: tuple[ShellCommand, ...]
    """In the order of the text; a program like `sudo` comes before the command that it starts."""
    opaque: tuple[Opaque, ...]
    """Empty if everything could be read."""
    assignments: tuple[str, ...] = ()
    """The assignments to variables, as `NAME=value` without quotes. What the shell fills in is as it was typed."""
