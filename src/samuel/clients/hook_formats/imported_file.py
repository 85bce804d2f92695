"""A file with hooks that were written for an agent, and the reader of what is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from samuel.clients.hook_formats.entry import Entry


class ImportedFile(NamedTuple):
    """A file that may have hooks of an agent."""

    client: str
    file: str  # relative to `base`, or absolute
    base: Path  # the project, or the home directory
    plugin: str = ""  # the directory of the plugin that it belongs to
    of_user: bool = False  # of the user's home directory, for all projects

    @property
    def path(self) -> Path:
        return self.base / self.file


class ReadEntries(Protocol):
    """Reads the hooks of a file, which are there by event: lists whose items the agent knows."""

    def __call__(self, file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
        """The entries in the order of the file; EntryProblem where one is not what the agent accepts."""
