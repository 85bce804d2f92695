"""The clean room: a directory of Samuel's own in which the checks run that decide about an attempt.

An agent prepares nothing there. The room has the files of one git tree, byte for byte, and what the project needs
besides (`PreparedEnvironment`), as it was before the first agent. Whatever else a check leaves in it, is removed
before the next tree is shown: no compiled file, no cache and no ignored file of one run is seen by the next.

The room has a git directory of its own, so that checks which ask git get an answer: objects are those of the
repository, branches and tags those of the moment when the room was made, and the index is the tree that is shown.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.evidence.check_directory import CheckDirectory, RoomFailed
from samuel.evidence.environment import BUILT, PreparedEnvironment, needed, remove
from samuel.files.survey import Signature, signature
from samuel.git.output import EXECUTABLE, GITLINK, LINK, TreeEntry
from samuel.git.room_repository import RoomRepository
from samuel.git.trees import Trees

_GIT = ".git"
ROOM = "room"
"""The directory that the room of a work tree is in, among what Samuel keeps of it."""


class _WrittenFile:
    """What was written at a path: the entry of the tree, and what tells whether the file changed since."""

    __slots__ = ("mode", "object", "signature")

    def __init__(self, entry: TreeEntry, signature: Signature) -> None:
        self.mode = entry.mode
        self.object = entry.object
        self.signature = signature

    def is_same(self, entry: TreeEntry) -> bool:
        return self.object == entry.object and self.mode == entry.mode


class CleanRoom:
    """The room of one work tree, in `directory`, which an agent in a sandbox cannot write."""

    is_clean = True

    def __init__(self, trees: Trees, directory: Path, commands: CheckDirectory) -> None:
        """`commands` is told where check commands run while a tree is shown."""
        self._trees = trees
        self._commands = commands
        location = trees.git.location()
        self._top = self.top = directory / ROOM / (location.top.name or "project")
        self.root = self._top / os.fsdecode(location.prefix)
        self._environment = PreparedEnvironment(location.top, directory / "environment", self._top)
        self._repository = RoomRepository(trees.git, self._top)
        self._files: dict[str, _WrittenFile] | None = None  # None: what lies there is not known

    def prepare(self, tree: str, ignored: Iterable[str]) -> None:
        """Take what the checks need besides the files of a tree, before the first agent. Raises SamuelError.

        `ignored` are the paths of the project that git ignores; the submodules of `tree` are taken as well.
        """
        prefix = os.fsdecode(self._trees.git.location().prefix)
        submodules = [entry.path for entry in self._trees.whole(tree) if entry.mode == GITLINK]
        self._environment.take([*(prefix + path for path in needed(ignored)), *submodules])

    @property
    def environment(self) -> tuple[str, ...]:
        """The paths below the top that no tree has, and checks need."""
        return self._environment.paths

    def keep_built(self) -> None:
        """Keep what checks of the verified tree built and compiled, so that later checks need not do it again."""
        self._environment.keep_built(self._top, [*self._built()])

    def _built(self) -> Iterator[str]:
        """The directories of build output in the room, from its top."""
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            with os.scandir(self._top / prefix) as entries_of_directory:
                for present in entries_of_directory:
                    path = prefix + present.name
                    if not present.is_dir(follow_symlinks=False) or path == _GIT or self._environment.has(path):
                        continue
                    if present.name in BUILT and not any(
                        name.startswith(f"{path}/") for name in self._files or ()
                    ):
                        yield path
                    else:
                        waiting.append(f"{path}/")

    @contextmanager
    def showing(self, tree: str) -> Iterator[None]:
        """Let check commands run on this tree. Raises RoomFailed, and GitFailed."""
        try:
            self._write(self._trees.whole(tree))
            self._repository.show(tree)
        except OSError as error:
            self._files = None
            where = file_name(os.fsdecode(error.filename)) if error.filename else "the clean room"
            raise RoomFailed(
                f"cannot write `{where}`: {error.strerror}", "make room, or check its rights"
            ) from None
        with self._commands.at(self.root):
            yield

    def changed(self) -> dict[str, bytes | None]:
        """The files of the project that checks changed since the tree was shown; None for one that they removed.

        A formatter among the checks does that. New files do not count: a cache is one more often than not.
        """
        prefix = f"{self.root.relative_to(self._top)}/" if self.root != self._top else ""
        changes: dict[str, bytes | None] = {}
        for path, file in (self._files or {}).items():
            if not path.startswith(prefix) or file.mode == LINK:
                continue
            try:
                own = os.lstat(self._top / path)
                if signature(own) == file.signature:
                    continue
                content = (self._top / path).read_bytes() if stat.S_ISREG(own.st_mode) else None
            except OSError:
                content = None
            changes[path[len(prefix) :]] = content
        return {
            path: content for path, content in changes.items() if not self._is_as_shown(prefix + path, content)
        }

    def _is_as_shown(self, path: str, content: bytes | None) -> bool:
        """Whether a file that was written again has the content that it had."""
        if content is None:
            return False
        file = (self._files or {})[path]
        entry = TreeEntry(path, file.mode, file.object, len(content))
        return next(iter(self._trees.contents([entry])))[1] == content

    def _write(self, entries: list[TreeEntry]) -> None:
        files = {entry.path: entry for entry in entries if entry.mode != GITLINK and not _is_volatile(entry.path)}
        if self._files is None:
            remove(self._top)
        self._top.mkdir(parents=True, exist_ok=True, mode=0o700)
        in_room = self._swept(files)
        self._files = None  # a write that fails leaves what is not known
        for entry, content in self._trees.contents([files[path] for path in files if path not in in_room]):
            if content is None:
                raise RoomFailed(f"git has lost the content of `{file_name(entry.path)}`", "run `git fsck`")
            in_room[entry.path] = _WrittenFile(entry, _put(self._top / entry.path, entry, content))
        self.root.mkdir(parents=True, exist_ok=True)
        self._environment.lay_out(self._top)
        self._files = in_room

    def _swept(self, files: Mapping[str, TreeEntry]) -> dict[str, _WrittenFile]:
        """Remove everything that is not as it must be; what is, by path."""
        as_written = self._files or {}
        directories = {path[:end] for path in files for end in _ends(path)}
        left: dict[str, _WrittenFile] = {}
        remove(self._top / _GIT)  # a check may have written into it
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            with os.scandir(self._top / prefix) as entries_of_directory:
                for present in entries_of_directory:
                    path = prefix + present.name
                    if self._environment.has(path):
                        continue
                    if present.is_dir(follow_symlinks=False):
                        if path in directories or self._environment.is_below(path):
                            waiting.append(f"{path}/")
                        else:
                            remove(Path(present.path))
                        continue
                    file, entry = as_written.get(path), files.get(path)
                    if (
                        file is not None
                        and entry is not None
                        and file.is_same(entry)
                        and file.signature == signature(present.stat(follow_symlinks=False))
                    ):
                        left[path] = file
                    else:
                        os.unlink(present.path)
        return left


def _put(file: Path, entry: TreeEntry, content: bytes) -> Signature:
    """Write a file or a link where nothing is; its signature."""
    try:
        return _create(file, entry, content)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        return _create(file, entry, content)


def _create(file: Path, entry: TreeEntry, content: bytes) -> Signature:
    if entry.mode == LINK:
        os.symlink(os.fsdecode(content), file)
        return signature(os.lstat(file))
    mode = 0o755 if entry.mode == EXECUTABLE else 0o644
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        return signature(os.fstat(descriptor))


def _ends(path: str) -> Iterator[int]:
    """Where the name of each directory above a path ends."""
    end = path.find("/")
    while end >= 0:
        yield end
        end = path.find("/", end + 1)


def _is_volatile(path: str) -> bool:
    return path.startswith(VOLATILE_DIRS)
