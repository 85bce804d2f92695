"""The work tree as tree objects: take one, compare two, put paths back as they are in one.

A tree has every file of the project that is tracked, or untracked and not ignored, byte for byte. It is taken
through an index of Samuel's own, so the owner's index and settings neither change nor count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.files.atomic import DISK, Disk
from samuel.files.put_inside import move_aside, put_file, put_link, remove_path
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import KeptRefs
from samuel.git.merge_tree import merged_commits
from samuel.git.output import (
    EXECUTABLE,
    GITLINK,
    LINK,
    TreeChange,
    TreeEntry,
    parse_blobs,
    parse_changed_entries,
    parse_changes,
    parse_entries,
)
from samuel.git.own_index import OwnIndex
from samuel.git.work_file import NOT_KEPT, WorkFiles

DIFF_LIMIT = 1024 * 1024
_BATCH = 64 * 1024 * 1024  # of file contents at a time
_ARGUMENTS = 64 * 1024  # of names on a command line
_MANY = 200  # changed files
_REMEMBERED = 32  # pairs of trees
_RAW = ("-r", "-z", "--no-renames", "--relative", "--ignore-submodules=all", "--no-ext-diff", "--no-textconv")


class Trees:
    """Trees of the project that `git` is in; `directory` is in the user's state and for this project alone."""

    def __init__(self, git: Git, directory: Path, disk: Disk = DISK) -> None:
        self._git = git
        self._own = OwnIndex(git, directory)
        self._disk = disk
        self.refs = KeptRefs(git)
        self._last = ""  # the last snapshot, while nothing was put since
        self._looked = False  # at every file
        # Trees never change, so neither does what differs between two: each git that is not started saves 4 ms.
        self._differences: dict[tuple[str, str], frozenset[str]] = {}
        self._paths: tuple[str, list[str]] = ("", [])

    @property
    def git(self) -> Git:
        return self._git

    @property
    def last(self) -> str:
        """The last snapshot, while nothing was put since; "" if there is none."""
        return self._last if self._looked else ""

    def snapshot(self, changed: Iterable[str] | None = None) -> str:
        """The tree of the work tree as it is now.

        With `changed`, only these paths are looked at: all that changed since the last snapshot must be in it. The
        first snapshot looks at all files: what changed before is not known. Raises GitFailed.
        """
        paths = None if changed is None or not self._looked else list(changed)
        if paths == [] and self._last:
            return self._last
        self._own.prepare()
        try:
            self._last = self._snapshot(paths)
        except GitFailed:  # the index is broken, or `git gc` removed objects that only it knew
            self._own.rebuild()
            self._last = self._snapshot(None)
        self._looked = True
        return self._last

    def _snapshot(self, changed: Iterable[str] | None) -> str:
        self._own.take(self._own.differing() if changed is None else changed)
        return self._write_tree(self._own.index)

    def _write_tree(self, index: Path) -> str:
        options = ("--missing-ok",) if self._own.is_partial else ()
        return self._own.call("write-tree", *options, index=index).decode().strip()

    @property
    def not_kept(self) -> Mapping[str, str]:
        """The files that no tree has as they are, by the last look at every file, and why."""
        return self._own.not_kept

    def ignored(self) -> tuple[str, ...]:
        """The untracked paths that git ignores, and so no tree has; a directory stands for all that is in it."""
        output = self._git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        names = (file_name(os.fsdecode(name)) for name in output.split(b"\0")[:-1])
        return tuple(sorted(name for name in names if not name.startswith(VOLATILE_DIRS)))

    def changes(self, old: str, new: str) -> list[TreeChange]:
        """The paths that differ; "" is the empty tree."""
        if old == new:
            return []
        changes = parse_changes(self._diff(*_RAW, "--raw", "--numstat", old, new))
        self._remember(old, new, (change.path for change in changes))
        return changes

    def differing(self, old: str, new: str) -> set[str]:
        """The names of the paths that differ: `changes` without counting lines."""
        if old == new:
            return set()
        if (old, new) not in self._differences:
            names = self._diff(*_RAW, "--name-only", old, new).split(b"\0")[:-1]
            self._remember(old, new, map(os.fsdecode, names))
        return set(self._differences[old, new])

    def _remember(self, old: str, new: str, paths: Iterable[str]) -> None:
        if len(self._differences) >= _REMEMBERED:
            self._differences.clear()
        self._differences[old, new] = self._differences[new, old] = frozenset(paths)

    def diff(self, old: str, new: str, paths: Sequence[str] = (), limit: int = DIFF_LIMIT) -> bytes:
        """A patch from one tree to another, of these paths or all; cut at a line's end after `limit` bytes."""
        options = ("-r", "-p", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv")
        patch = self._diff(*options, old, new, *(("--", *paths) if paths else ()))
        return bounded(patch, limit)

    def _diff(self, *args: str) -> bytes:
        self._own.prepare()
        return self._own.call("diff-tree", *(arg or self._git.empty_tree() for arg in args))

    def content(self, tree: str, path: str) -> bytes | None:
        """The content of a file in a tree, or where a link leads; None if it has no such file."""
        entry = self.entries(tree, [path]).get(path)
        return None if entry is None or entry.mode == GITLINK else self._blobs([entry])[0]

    def paths(self, tree: str) -> list[str]:
        """The paths of all files and links in a tree."""
        if self._paths[0] != tree:
            self._paths = (tree, [entry.path for entry in self.entries(tree).values() if entry.mode != GITLINK])
        return list(self._paths[1])

    def entries(self, tree: str, paths: Iterable[str] | None = None) -> dict[str, TreeEntry]:
        """What a tree has at these paths, or at all."""
        if not tree:
            return {}
        self._own.prepare()
        names = None if paths is None else list(paths)
        narrow = names is not None and sum(len(name) + 8 for name in names) < _ARGUMENTS
        output = self._own.call("ls-tree", "-r", "-l", "-z", tree, *(("--", *names) if names and narrow else ()))
        entries = {entry.path: entry for entry in parse_entries(output)}
        return entries if names is None else {name: entries[name] for name in names if name in entries}

    def whole(self, tree: str) -> list[TreeEntry]:
        """Everything in a tree, with paths from the top of the repository and not from the project."""
        self._own.prepare()
        return list(parse_entries(self._own.call("ls-tree", "-r", "-l", "-z", "--full-tree", tree)))

    def changed_entries(self, old: str, new: str) -> dict[str, TreeEntry | None]:
        """What the second tree has where the two differ, by paths from the top; None where it has nothing."""
        options = ("-r", "-z", "--no-renames", "--raw", "--no-abbrev", "--no-ext-diff")
        changed = parse_changed_entries(self._diff(*options, old, new)) if old != new else {}
        if len(changed) < _MANY:
            return changed
        entries = {entry.path: entry for entry in self.whole(new)}  # with sizes, for batches that fit in memory
        return {path: entries.get(path) for path in changed}

    def contents(self, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | None]]:
        """Each of these entries with its content; None where git has lost it."""
        for batch in _batches(entries):
            yield from zip(batch, self._blobs(batch), strict=True)

    def with_contents(self, tree: str, contents: Mapping[str, bytes | None]) -> str:
        """The tree with these files of the project as given; None removes one."""
        if not contents:
            return tree
        entries = self.entries(tree, contents)
        changed: list[tuple[str, TreeEntry | None]] = []
        for path, content in contents.items():
            if content is None:
                changed.append((path, None))
                continue
            name = self._own.call("hash-object", "-w", "--stdin", "--no-filters", stdin=content).decode().strip()
            mode = entries[path].mode if path in entries else "100644"
            changed.append((path, TreeEntry(path, mode, name, len(content))))
        with self._mixed(tree) as mixed:
            self._own.set_entries(changed, index=mixed)
            return self._write_tree(mixed)

    def merged(self, base: str, tree: str, other: str) -> tuple[str, tuple[str, ...]]:
        """What two trees come to that both began as `base`, and the paths in conflict. Raises GitFailed."""
        root = self.refs.commit(base, "", "samuel: before both\n")
        tip, work = (self.refs.commit(each, root, "samuel: to be merged\n") for each in (tree, other))
        return merged_commits(self._own, tip, work)

    def combined(self, tree: str, other: str, paths: Iterable[str]) -> str:
        """The tree that has these paths as they are in `other`, and all else as in `tree`."""
        names = sorted(set(paths))
        if not names or tree == other:
            return tree
        if self.differing(tree, other) <= set(names):
            return other
        with self._mixed(tree) as mixed:
            entries = self.entries(other, names)
            self._own.set_entries([(name, entries.get(name)) for name in names], index=mixed)
            return self._write_tree(mixed)

    def with_outside(self, tree: str, paths: Sequence[str]) -> str:
        """The tree with these paths, which are beside the project and from the top, as the work tree has them."""
        if not paths:
            return tree
        with self._mixed(tree) as mixed:
            self._own.take_outside(paths, index=mixed)
            return self._write_tree(mixed)

    @contextmanager
    def _mixed(self, tree: str) -> Iterator[Path]:
        """An index for a tree that is made of several, with what `tree` has."""
        self._own.prepare()
        mixed = self._own.index.with_name("mixed")
        mixed.unlink(missing_ok=True)
        try:
            self._own.call("read-tree", tree, index=mixed)
            yield mixed
        finally:
            mixed.unlink(missing_ok=True)

    def put(self, tree: str, paths: Iterable[str]) -> list[str]:
        """Make these paths in the work tree what they are in `tree`; gives why a path could not be made so.

        A path that the tree does not have is removed. What was written is read back and compared. Idempotent:
        repeated after a kill, it finishes.
        """
        self._last = ""
        names = [path for path in sorted(set(paths)) if _is_writable(path)]
        entries = self.entries(tree, names)
        problems: dict[str, str] = {}
        for path in names:  # before anything is written: a file may have become a directory, or the reverse
            if path not in entries:
                problems |= self._attempt(path, None, b"")
        files = [entry for entry in entries.values() if entry.mode != GITLINK]
        for entry, content in self.contents(files):
            problems |= self._attempt(entry.path, entry, content)
        try:
            # First as it has to be, without any time, so that git reads each file again.
            self._own.set_entries([(name, entries.get(name)) for name in names], index=self._own.index)
            self._own.take(names)
        except GitFailed:
            self._own.rebuild()
        for path in self._own.differing_from(tree) & set(names):
            problems.setdefault(path, f"`{file_name(path)}`: it is not what was written there")
        return [problems[path] for path in sorted(problems)]

    def _attempt(self, path: str, entry: TreeEntry | None, content: bytes | None) -> dict[str, str]:
        root = self._git.root
        is_note = content is not None and content.startswith(NOT_KEPT)
        try:
            if not is_note and WorkFiles(root).look(path).kind == "not_kept":
                move_aside(root, path)  # no tree has it, so it could not be restored
            if entry is None:
                remove_path(root, path, self._disk)
            elif content is None:
                return {path: f"`{file_name(path)}`: git has lost its content"}
            elif is_note:
                is_same = WorkFiles(root).look(path).note == content
                return {} if is_same else {path: f"`{file_name(path)}`: {_why_not_kept(content)}"}
            elif entry.mode == LINK:
                put_link(root, path, content, self._disk)
            else:
                put_file(root, path, content, executable=entry.mode == EXECUTABLE, disk=self._disk)
        except SamuelError as error:
            return {path: f"`{file_name(path)}`: {error.message}"}
        except OSError as error:
            return {path: f"`{file_name(path)}`: {error.strerror}"}
        return {}

    def _blobs(self, entries: Sequence[TreeEntry]) -> list[bytes | None]:
        names = "".join(f"{entry.object}\n" for entry in entries)
        return list(parse_blobs(self._own.call("cat-file", "--batch", stdin=names.encode())))


def bounded(patch: bytes, limit: int) -> bytes:
    """A patch, cut at the end of a line if it is longer than `limit` bytes, which its last line then says."""
    if len(patch) <= limit:
        return patch
    end = patch.rfind(b"\n", 0, limit) + 1
    return patch[:end] + b"[%d more bytes are not shown]\n" % (len(patch) - end)


def _why_not_kept(note: bytes) -> str:
    return "it was not kept: " + note.removeprefix(NOT_KEPT).partition(b"\n")[0].decode()


def _is_writable(path: str) -> bool:
    names = path.split("/")
    plain = all(name not in ("", ".", "..") and name.lower() != ".git" for name in names)
    return plain and not path.startswith(VOLATILE_DIRS)


def _batches(entries: Iterable[TreeEntry]) -> list[list[TreeEntry]]:
    """The entries in groups whose contents fit in memory together."""
    batches: list[list[TreeEntry]] = []
    size = 0
    for entry in entries:
        if not batches or size + entry.size > _BATCH:
            batches.append([])
            size = 0
        batches[-1].append(entry)
        size += entry.size
    return batches
