"""The index of a person, saved before a program worked in the repository, and putting it back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import file_name, listed
from samuel.files.survey import Signature
from samuel.git.git import Git, GitFailed
from samuel.git.index_state import (
    SKIPPED,
    IndexEntry,
    follow_head,
    hidden_paths,
    index_entries,
    write_entries,
)
from samuel.git.saved_files import SavedFiles

INDEX = "index"
SPLIT = "sharedindex."  # what a split index begins with
MOST_NAMED = 5  # paths or settings in one note


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
