"""What a command starts in turn: the possible answers about `sudo`, `bash -c`, `xargs` and the like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from samuel.shell import OpaqueKind
from samuel.shell.word import Word


class StartedCommand(NamedTuple):
    """Another command: `rm -rf x` of `sudo rm -rf x`."""

    words: tuple[Word, ...]
    open_ended: bool = False
    takes_input: bool = False
    """Are the words of its standard input, as they stand, the rest of the command?"""


class StartedScript(NamedTuple):
    """Text that a shell runs: `rm -rf x` of `bash -c 'rm -rf x'`."""

    text: str
    exact: bool
    """False if a part of the text is filled in before the shell sees it."""
    open_ended: bool = False


class StartedInput(NamedTuple):
    """Whatever comes through standard input."""

    is_shell: bool
    """Can it be read, if the input is in the text? Other languages cannot."""


class Unreadable(NamedTuple):
    """It cannot be known what is started."""

    reason: str
    kind: OpaqueKind = "option"
    code: str = ""
    """The code of another language that runs, where it is in the text."""


Started: TypeAlias = StartedCommand | StartedScript | StartedInput | Unreadable
Starts: TypeAlias = Callable[[Sequence[Word]], Iterator[Started]]
"""Gets all words of a command, the program first."""


def joined_script(words: Sequence[Word]) -> StartedScript:
    """The words as one text, as `eval` and `ssh` make it."""
    exact = all(word.literal and not word.pattern for word in words)
    return StartedScript(" ".join(word.text for word in words), exact)
