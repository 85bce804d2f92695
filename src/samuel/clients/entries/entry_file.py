"""A file of a client that can hold Samuel's entries, as text, and the contract of its formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from samuel.clients.entries.hook_command import EmitCommand


class BrokenFile(Exception):
    """The text cannot be edited: it is not what the client reads. With the line, or 0."""

    def __init__(self, what: str, line: int = 0, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.hint = hint


class EntryFormat(Protocol):
    """How one kind of file holds Samuel's entries. All texts are without a byte order mark."""

    @property
    def executable(self) -> bool:
        """Whether the client runs the file itself."""

    @property
    def byte_order_mark(self) -> bool:
        """Whether the client reads a file that starts with one; others ignore the file, and say nothing."""

    def added(self, text: str | None, command: EmitCommand) -> str:
        """The text with Samuel's entries, each once; None is a file that is not there. Or BrokenFile."""

    def removed(self, text: str) -> str | None:
        """The text without Samuel's entries; None if the file came with them. Or BrokenFile."""

    def events(self, text: str) -> Sequence[str]:
        """The client's events for which the text has an entry of Samuel's. Or BrokenFile."""


class EntryFile(NamedTuple):
    """A path below the project's root or the client's home, and its format."""

    path: str
    format: EntryFormat
