"""Where check commands run: in the project, or where a tree is shown to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from samuel.base.errors import SamuelError


class RoomFailed(SamuelError):
    """A tree could not be shown, so nothing can be said about it."""


class CheckDirectory:
    """The directory in which check commands run now; None for the project itself."""

    def __init__(self) -> None:
        self.path: Path | None = None

    @contextmanager
    def at(self, path: Path) -> Iterator[None]:
        before, self.path = self.path, path
        try:
            yield
        finally:
            self.path = before


class CheckRoom(Protocol):
    """Shows trees to check commands: a clean room, or the work tree itself."""

    @property
    def is_clean(self) -> bool:
        """Whether no agent can have prepared what checks find there."""

    def showing(self, tree: str) -> AbstractContextManager[None]:
        """Let check commands run on this tree. Raises RoomFailed."""

    def changed(self) -> dict[str, bytes | None]:
        """The files of the last tree that checks changed, by path; None for one that they removed."""
