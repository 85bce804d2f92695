"""The files of one git tree in a directory of their own, made those of another tree by writing what differs.

What programs left there is removed first. A file counts as untouched while its size, times, inode and mode are
what they were when it was written: the time of the last change of an inode cannot be set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.surroundings.copies import remove
from samuel.files.survey import Signature, signature
from samuel.git.output import EXECUTABLE, GITLINK, LINK, TreeEntry
from samuel.git.trees import Trees

GIT = ".git"


class RoomFiles:
    """The files below `top`, of the tree that was written last."""

    def __init__(self, trees: Trees, top: Path, is_kept: Callable[[str], bool | None]) -> None:
        """`is_kept` says of a path whether it belongs to something else; None if something below it does."""
        self._trees = trees
        self._top = top
        self._is_kept = is_kept
        self._tree = ""  # what lies there; "" if that is not known
        self._entries: dict[str, TreeEntry] = {}
        self._signatures: dict[str, Signature] = {}
        self._directories: set[str] = set()

    def write(self, tree: str) -> None:
        """Make the directory this tree. Raises RoomFailed, OSError and GitFailed."""
        before, self._tree = self._tree, ""  # a write that fails leaves what is not known
        if not before:
            remove(self._top)
            self._entries, self._signatures = {}, {}
        self._top.mkdir(parents=True, exist_ok=True, mode=0o700)
        changed = self._advance(before, tree)
        self._sweep(changed)
        if len(self._signatures) != len(self._entries):
            missing = [
                entry
                for path, entry in self._entries.items()
                if path not in self._signatures and not self._is_kept(path)
            ]
            for entry, content in self._trees.contents(missing):
                if content is None:
                    raise RoomFailed(f"git has lost the content of `{file_name(entry.path)}`", "run `git fsck`")
                self._signatures[entry.path] = _put(f"{self._top}/{entry.path}", entry, content)
        self._tree = tree

    def forget(self) -> None:
        """Let the next write begin with nothing."""
        self._tree = ""

    def _advance(self, before: str, tree: str) -> set[str]:
        """Let the entries be those of this tree; the paths whose entry changed."""
        if not before:
            self._entries = {entry.path: entry for entry in self._trees.whole(tree) if _is_written(entry)}
            self._directories = _directories(self._entries)
            return set()
        changes = self._trees.changed_entries(before, tree)
        count = len(self._entries)
        has_new = False
        for path, entry in changes.items():
            if entry is None or not _is_written(entry):
                self._entries.pop(path, None)
            else:
                has_new = has_new or path not in self._entries
                self._entries[path] = entry
        if has_new or len(self._entries) != count:
            self._directories = _directories(self._entries)
        return {*changes}

    def _sweep(self, changed: set[str]) -> None:
        """Remove everything that is not as it must be; `changed` are paths that must be written again."""
        before, entries, left = self._signatures, self._entries, {}
        remove(self._top / GIT)  # a check may have written into it
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            with os.scandir(f"{self._top}/{prefix}") as present:
                for item in present:
                    path = prefix + item.name
                    if path in entries and path not in changed:
                        own = item.stat(follow_symlinks=False)
                        if before.get(path) == signature(own):
                            left[path] = before[path]
                        else:
                            remove(Path(item.path))
                    elif not item.is_dir(follow_symlinks=False):
                        if not self._is_kept(path):
                            os.unlink(item.path)
                    elif (is_kept := self._is_kept(path)) is None or (not is_kept and path in self._directories):
                        waiting.append(f"{path}/")
                    elif not is_kept:
                        remove(Path(item.path))
        self._signatures = left

    def changed(self, prefix: str) -> dict[str, bytes | None]:
        """The files below `prefix` whose content is not that of the tree, without the prefix; None: removed.

        New files do not count: a cache is one more often than not.
        """
        contents: dict[str, bytes | None] = {}
        for path, before in self._signatures.items():
            if not path.startswith(prefix) or self._entries[path].mode == LINK:
                continue
            file = f"{self._top}/{path}"
            try:
                if signature(os.lstat(file)) != before:
                    contents[path] = None if os.path.islink(file) else Path(file).read_bytes()
            except OSError:
                contents[path] = None
        entries = [self._entries[path] for path, content in contents.items() if content is not None]
        as_shown = {entry.path: content for entry, content in self._trees.contents(entries)}
        return {
            path[len(prefix) :]: content
            for path, content in contents.items()
            if content is None or content != as_shown[path]
        }

    def others(self, is_left_out: Callable[[str], bool] = lambda path: False) -> Iterator[str]:
        """The paths that are not of the tree, from the top; a directory stands for all that is in it."""
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            with os.scandir(f"{self._top}/{prefix}") as present:
                for item in present:
                    path = prefix + item.name
                    if path == GIT or path in self._entries or is_left_out(path):
                        continue
                    is_directory = item.is_dir(follow_symlinks=False)
                    if is_directory and (path in self._directories or self._is_kept(path) is None):
                        waiting.append(f"{path}/")
                    elif not self._is_kept(path):
                        yield path

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        return self._entries


def _is_written(entry: TreeEntry) -> bool:
    return entry.mode != GITLINK and not entry.path.startswith(VOLATILE_DIRS)


def _directories(paths: Mapping[str, TreeEntry]) -> set[str]:
    """Every directory above one of the paths."""
    directories: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and path[:end] not in directories:
            directories.add(path[:end])
            end = path.rfind("/", 0, end)
    return directories


def _put(file: str, entry: TreeEntry, content: bytes) -> Signature:
    """Write a file or a link where nothing is; its signature."""
    try:
        return _create(file, entry, content)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        return _create(file, entry, content)


def _create(file: str, entry: TreeEntry, content: bytes) -> Signature:
    if entry.mode == LINK:
        os.symlink(os.fsdecode(content), file)
        return signature(os.lstat(file))
    mode = 0o755 if entry.mode == EXECUTABLE else 0o644
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        return signature(os.fstat(descriptor))
