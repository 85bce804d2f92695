"""The git directory of a clean room: what checks that ask git are told, and nothing that an agent wrote."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from samuel.git import settings as git_settings
from samuel.git.git import Git

_REFS = ("refs/heads", "refs/tags")
_REMEMBERED = 4  # indexes
_LARGEST_INDEX = 16 << 20  # bytes of one


class RoomRepository:
    """A repository at `top` with the objects of another one, its branches and tags, and an index of its own."""

    def __init__(self, git: Git, top: Path) -> None:
        self._git = git
        self._top = top
        self._indexes: dict[str, bytes] = {}  # it has no times in it, so it is the same for the same tree

    def show(self, tree: str) -> None:
        """Make the git directory, which must not be there, with this tree as its index. Raises GitFailed."""
        place = self._top / ".git"
        for directory in ("objects/info", "refs"):
            (place / directory).mkdir(parents=True)
        for name, content in self._files.items():
            (place / name).write_bytes(content)
        if (index := self._indexes.get(tree)) is not None:
            (place / "index").write_bytes(index)
            return
        Git(self._top, self._git.owner_environment).run("read-tree", tree)
        self._remember(tree, (place / "index").read_bytes())

    def _remember(self, tree: str, index: bytes) -> None:
        """Keep an index: the corners of an attempt show the same few trees in turns."""
        if len(self._indexes) >= _REMEMBERED:
            del self._indexes[next(iter(self._indexes))]
        if len(index) <= _LARGEST_INDEX:
            self._indexes[tree] = index

    @cached_property
    def _files(self) -> dict[str, bytes]:
        """What is in the git directory: as it is when the room is first used, before any agent."""
        lines = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *_REFS)
        head = self._git.head()
        object_format = git_settings.value_of(self._git.settings(), "extensions.objectformat")
        version = f"1\n[extensions]\n\tobjectFormat = {object_format}" if object_format else "0"
        return {
            "objects/info/alternates": os.fsencode(self._git.location().shared / "objects") + b"\n",
            "config": f"[core]\n\tbare = false\n\trepositoryformatversion = {version}\n".encode(),
            "packed-refs": b"# pack-refs with: sorted\n" + lines,
            "HEAD": f"{head or 'ref: refs/heads/main'}\n".encode(),
        }
