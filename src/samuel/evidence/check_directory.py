"""Where check commands run: in the project, or where a tree is shown to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from samuel.base.errors import SamuelError

_NONE: Mapping[str, str] = MappingProxyType({})


class RoomFailed(SamuelError):
    """A tree could not be shown, so nothing can be said about it."""


class CheckDirectory:
    """The directory in which check commands run now; None for the project itself."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.state: Path | None = None
        """Where Samuel and the commands exchange files, in the place of the state directory; None: there."""
        self.variables: Mapping[str, str] = {}
        """What the commands get in place of variables of the user."""

    @contextmanager
    def at(self, path: Path, variables: Mapping[str, str] = _NONE, state: Path | None = None) -> Iterator[None]:
        before = self.path, self.variables, self.state
        self.path, self.variables, self.state = path, variables, state
        try:
            yield
        finally:
            self.path, self.variables, self.state = before


class CheckRoom(Protocol):
    """Shows trees to check commands: a clean room, or the work tree itself."""

    @property
    def is_clean(self) -> bool:
        """Whether no agent can have prepared what checks find there."""

    def showing(self, tree: str) -> AbstractContextManager[None]:
        """Let check commands run on this tree. Raises RoomFailed."""

    def changed(self) -> dict[str, bytes | None]:
        """The files of the last tree that checks changed, by path; None for one that they removed."""
