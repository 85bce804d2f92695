"""The index of a person before a program worked in the repository, and putting it back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import file_name, listed
from samuel.files.survey import Signature
from samuel.git.git import Git, GitFailed
from samuel.git.saved_files import SavedFiles

SUBMODULE = "160000"
SKIPPED = "skip-worktree"
INDEX = "index"
SPLIT = "sharedindex."  # what a split index begins with
MOST_NAMED = 5  # paths or settings in one note


class IndexEntry(NamedTuple):
    flag: str
    """`H`, `S` (skip-worktree), or one of them in lower case (assume-unchanged)."""
    mode: str
    object: str


def index_entries(git: Git, index: Path) -> dict[str, IndexEntry]:
    """What an index file has, by path from the top of the work tree; of a conflict, the last stage."""
    output = _call(git, "ls-files", "-v", "-s", "-z", "--full-name", ":/", index=index)
    entries = {}
    for line in output.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        flag, mode, name, _ = facts.decode().split(" ")
        entries[os.fsdecode(path)] = IndexEntry(flag, mode, name)
    return entries


def hidden_paths(before: Mapping[str, IndexEntry], after: Mapping[str, IndexEntry]) -> Iterator[tuple[str, str]]:
    """The paths that an index hides from git, and did not before; each with the flag."""
    for path, entry in after.items():
        old = before.get(path)
        if entry.flag.islower() and not (old and old.flag.islower()):
            yield path, "assume-unchanged"
        if entry.flag.upper() == "S" and not (old and old.flag.upper() == "S"):
            yield path, SKIPPED


def index_tree(git: Git, copy: Path) -> str:
    """A tree that holds every object of the index: `git gc` keeps them if a ref has it. Raises GitFailed, OSError.

    `copy` is a file that is written and removed: git would write into the index itself.
    """
    try:
        shutil.copyfile(git.index_file, copy)
        try:
            return _call(git, "write-tree", "--missing-ok", index=copy).decode().strip()
        except GitFailed:  # there is a conflict, which is no tree
            rows = _call(git, "ls-files", "-s", "-z", "--full-name", ":/", index=copy).split(b"\0")[:-1]
            facts = (row.partition(b"\t")[0].decode().split(" ") for row in rows)
            objects = sorted({name for mode, name, _ in facts if mode != SUBMODULE})
            lines = "".join(f"100644 blob {name}\t{name}\0" for name in objects)
            return _call(git, "mktree", "--missing", "-z", stdin=lines.encode()).decode().strip()
    finally:
        copy.unlink(missing_ok=True)


def follow_head(git: Git, old: str, new: str, leave: Collection[str] = ()) -> tuple[str, ...]:
    """Make the index, which is as it was at commit `old`, fit the commit `new`. Raises GitFailed.

    A path that it has as in `old` becomes what it is in `new`. Every other entry is a person's, and stays, and so
    do those in `leave`; gives their paths.
    """
    output = git.run(
        "diff-tree", "-r", "-z", "--no-renames", "--raw", old or git.empty_tree(), new or git.empty_tree()
    )
    fields = output.split(b"\0")[:-1]
    current = index_entries(git, git.index_file)
    lines, left = [], []
    for facts, name in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_object, new_object, _ = facts[1:].decode().split(" ")
        path = os.fsdecode(name)
        entry = current.get(path)
        is_old = (entry.mode, entry.object) == (old_mode, old_object) if entry else set(old_object) == {"0"}
        if is_old and path not in leave:
            lines.append((set(new_object) != {"0"}, f"{new_mode} {new_object}\t".encode() + name + b"\0"))
        else:
            left.append(path)
    # Removals first: a name may be that of a file and of a directory.
    _write(git, [line for _, line in sorted(lines)])
    return tuple(left)


def write_entries(git: Git, entries: Mapping[str, IndexEntry | None]) -> None:
    """Give the index these entries, without flags; None removes one. Raises GitFailed."""
    lines = [
        (f"{entry.mode} {entry.object}\t" if entry else f"0 {'0' * 40}\t").encode() + os.fsencode(path) + b"\0"
        for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None)
    ]
    _write(git, lines)


def _write(git: Git, lines: Sequence[bytes]) -> None:
    if lines:
        _call(git, "update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines))


def _call(git: Git, *args: str, index: Path | None = None, stdin: bytes = b"") -> bytes:
    own_index = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    return git.call(list(args), stdin=stdin, env={**git.reading_environment, **own_index})


class IndexChanges(NamedTuple):
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """The paths, from the top of the work tree, that the index said are not in it, and did not before."""
    staged: tuple[str, ...] = ()
    """The paths that a person had staged and the program committed."""
    since: tuple[str, ...] = ()
    """The paths that were staged after a run was killed."""


class SavedIndex:
    """The index of a work tree and its copy; `before` has the signatures of the files that were saved."""

    def __init__(self, git: Git, files: SavedFiles, before: Mapping[str, Signature]) -> None:
        self._git = git
        self._files = files
        self._before = before

    def put_back(self, who: str, commit: str) -> IndexChanges:
        """Put it back, and bring it along from `commit` if the program made commits. Raises GitFailed."""
        splits = {path.name for path in self._git.index_file.parent.glob(f"{SPLIT}*")}
        names = {*splits, *(name for name in self._before if name.startswith(SPLIT)), INDEX}
        changed = self._files.changed(names, self._before)
        changes = self._changes(who) if INDEX in changed else IndexChanges()
        for name in sorted(changed, key=lambda name: name == INDEX):
            self._files.put_back(name)
        head = self._git.head()
        if head and head != commit:
            changes = changes._replace(staged=follow_head(self._git, commit, head))
        return changes

    def put_back_agents(self, who: str, last_index: Path) -> IndexChanges:
        """Put back the entries that are as in `last_index`, the index when the run was last alive.

        Every other entry was changed after that, and stays; without a flag that hides it. Raises GitFailed.
        """
        changes, now = self._changes(who), index_entries(self._git, self._git.index_file)
        before = self._entries_before()
        try:
            last = index_entries(self._git, last_index) if last_index.exists() else before
        except GitFailed:  # what it was split from is gone
            last = before
        back = {path for path in {*before, *last} if before.get(path) != last.get(path) == now.get(path)}
        entries = {path: now[path] for path, _ in self._hidden(now)} | {path: before.get(path) for path in back}
        write_entries(self._git, entries)
        since = sorted(path for path in {*last, *now} if last.get(path) != now.get(path))
        changes = changes._replace(since=tuple(since))
        if named := named_paths(sorted(map(file_name, back))):
            note = f"{who} changed the index, which is as before but for what was staged since: {named}"
            changes = changes._replace(notes=(*changes.notes, note))
        return changes

    def staged(self) -> tuple[str, ...]:
        """The paths that the index has otherwise than HEAD, conflicts among them. Raises GitFailed."""
        output = self._git.run("diff-index", "--cached", "--name-only", "--no-renames", "-z", "HEAD")
        return tuple(dict.fromkeys(map(os.fsdecode, output.split(b"\0")[:-1])))

    def _changes(self, who: str) -> IndexChanges:
        """What the program did to the index that has to be said."""
        if not self._git.index_file.exists():
            return IndexChanges((f"{who} removed the index: it is as before",))
        try:
            now = index_entries(self._git, self._git.index_file)
        except GitFailed:
            return IndexChanges((f"{who} broke the index: it is as before",))
        hidden = self._hidden(now)
        if not hidden:
            return IndexChanges()
        named = named_paths([f"{file_name(path)} ({flag})" for path, flag in hidden])
        skipped = tuple(path for path, flag in hidden if flag == SKIPPED)
        return IndexChanges((f"{who} set flags of the index, which are as before: {named}",), skipped)

    def _hidden(self, now: Mapping[str, IndexEntry]) -> list[tuple[str, str]]:
        try:
            return list(hidden_paths(self._entries_before(), now))
        except GitFailed:  # what it was split from is gone until it is put back
            return []

    def _entries_before(self) -> dict[str, IndexEntry]:
        copy = self._files.copy_of(INDEX)
        return index_entries(self._git, copy) if copy.exists() else {}


def named_paths(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    return listed([f"`{name}`" for name in names], MOST_NAMED)
