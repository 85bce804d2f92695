"""A repository before an agent or a check worked in it, and putting back what that changed.

A program may do to the repository whatever git can do. The files that it writes are its work; the index, HEAD, the
branches and what git is told to hide belong to the person. They are saved before it starts, on disk, so that a
killed Samuel can put them back when it resumes. Commits on top of the branch that is checked out stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import convert
from samuel.base.printable import file_name
from samuel.files import atomic
from samuel.files.survey import Signature, TooManyFiles, signature_if_exists, survey
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed
from samuel.git.index_state import SKIPPED, follow_head, hidden_paths, index_entries
from samuel.git.kept_refs import KeptRefs, before_ref
from samuel.git.ref_state import HEADS, HeadState, RefState, read_head, read_refs
from samuel.git.saved_files import SHARED, SavedFiles
from samuel.git.settings_state import put_back_settings, setting_changes

FILE = "state.json"
INDEX = "index"
SPLIT = "sharedindex."  # what a split index begins with
STASHES = "logs/refs/stash"  # without it git has the last stash only
OPERATIONS: Mapping[str, str] = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
"""The command that waits to be continued, by the file or directory that says so."""
OF_OPERATIONS = (
    *("MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG", "REBASE_HEAD"),
    *("sequencer", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK"),
)
MOST_HELD = 500  # branches, and stashes
MOST_NAMED = 5  # paths or settings in one note


class RepositoryState(msgspec.Struct, frozen=True, kw_only=True):
    """What a repository was before a program worked in it."""

    run: str
    iteration: int
    branch: str
    commit: str
    refs: dict[str, str]
    files: dict[str, tuple[int, ...]]
    """The signatures of the saved files that existed."""
    locks: tuple[str, ...]
    objects: int
    """The inode of the object directory: with another one it is another repository."""


class RepositoryNotes(NamedTuple):
    """What a program did to a repository, and what was done about it."""

    notes: tuple[str, ...] = ()
    left: str = ""
    """The commit that HEAD was at, if HEAD or its branch was put back."""
    skipped: tuple[str, ...] = ()
    """The paths, from the top of the work tree, that the index said are not in it, and did not before."""


class SavedRepository:
    """The state of the repository of `git`, saved in `directory`, which is for this work tree alone."""

    def __init__(self, git: Git, directory: Path, *, shared: bool = True) -> None:
        """`shared` False: refs and settings belong to others who work at the same time, and are left alone."""
        self._git = git
        self._directory = directory
        self._shared = shared
        self.state: RepositoryState | None = None
        self._looks: dict[str, Signature] = {}
        self._held: tuple[str, ...] = ()  # the commits that the ref of what was before holds

    def save(self, run: str, iteration: int) -> None:
        """Save the state as it is now. Raises GitFailed."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        looks, last = self._look(), self.state
        if last is not None and looks and looks == self._looks:
            refs, head = last.refs, HeadState(last.branch, last.commit)
        else:
            refs = read_refs(self._git)
            head = read_head(self._git, refs)
        if self._shared:
            refs = self._hold(run, head, refs)
        names = list(self._names())
        files = self._files.save(names, last.files if last else {})
        self._files.forget(name for name in names if name not in files)
        self.state = RepositoryState(
            run=run,
            iteration=iteration,
            branch=head.branch,
            commit=head.commit,
            refs=refs,
            files=files,
            locks=tuple(self._locks()),
            objects=self._objects(),
        )
        data = json.dumps(msgspec.to_builtins(self.state)).encode()  # names may be no UTF-8
        atomic.write_bytes(self._directory / FILE, data, 0o600, durable=False)
        self._looks = self._look()

    def _hold(self, run: str, head: HeadState, refs: dict[str, str]) -> dict[str, str]:
        """Let a ref hold the branches and stashes, so that `git gc` keeps them; gives the refs with it."""
        tips = [head.commit, *(commit for name, commit in refs.items() if name.startswith(HEADS))][:MOST_HELD]
        with suppress(OSError, IndexError):
            stashes = self._files.path(STASHES).read_text(errors="replace").splitlines()
            tips += [line.split(" ")[1] for line in stashes[-MOST_HELD:]]
        commits, ref = tuple(sorted({commit for commit in tips if commit})), before_ref(run)
        if not commits or (ref in refs and commits == self._held):
            return refs
        kept_refs = KeptRefs(self._git)
        with suppress(GitFailed):
            commit = kept_refs.commit(self._git.empty_tree(), commits, "samuel: before an attempt\n")
            kept_refs.set_ref(ref, commit)
            self._held = commits
            return {**refs, ref: commit}
        return refs

    def load(self) -> RepositoryState | None:
        """The state that a killed process saved and did not put back; None if there is none."""
        try:
            self.state = convert(json.loads((self._directory / FILE).read_bytes()), RepositoryState)
        except (OSError, ValueError, msgspec.MsgspecError):
            self.state = None
        self._looks = {}
        return self.state

    def forget(self) -> None:
        """Remove what was saved, when everything is put back."""
        (self._directory / FILE).unlink(missing_ok=True)

    def put_back(self, who: str, *, resumed: bool = False) -> RepositoryNotes:
        """Put back what a program changed since `save`; gives what was done. `who` is that program, in words.

        `resumed`: that was in another process, and a person may have worked in the repository since.
        """
        state = self.state
        if state is None or not self._objects():
            return RepositoryNotes()
        if self._looks and self._look() == self._looks:
            self.forget()
            return RepositoryNotes()
        if self._objects() != state.objects:
            self.forget()
            return RepositoryNotes((f"{who} replaced the repository by another one, without what was committed",))
        notes = [*self._put_back_locks(state, who), *self._put_back_files(state, who)]
        left, skipped = "", tuple[str, ...]()
        try:
            ref_notes = self._put_back_refs(state, who, resumed=resumed)
            notes, left = [*notes, *ref_notes.notes], ref_notes.left
        except (GitFailed, OSError) as error:
            notes.append(f"{who} changed refs, which cannot be put back: {_why(error)}")
        try:
            is_moved_on = resumed and read_head(self._git, read_refs(self._git)) != (state.branch, state.commit)
            index_notes = RepositoryNotes() if is_moved_on else self._put_back_index(state, who)
            notes, skipped = [*notes, *index_notes.notes], index_notes.skipped
        except (GitFailed, OSError) as error:
            notes.append(f"{who} changed the index, which cannot be put back: {_why(error)}")
        self.forget()
        return RepositoryNotes(tuple(notes), left, skipped)

    # What is looked at

    @property
    def _files(self) -> SavedFiles:
        return SavedFiles(self._git.location(), self._directory / "files")

    def _names(self) -> Iterator[str]:
        yield from (INDEX, "config.worktree", "info/sparse-checkout", *OPERATIONS, *OF_OPERATIONS)
        yield from sorted(path.name for path in self._git.location().directory.glob(f"{SPLIT}*"))
        if self._shared:
            yield from SHARED

    def _look(self) -> dict[str, Signature]:
        """What tells whether anything may have changed; {} if that cannot be told."""
        shared, files = self._git.location().shared, self._files
        looks = {name: signature_if_exists(files.path(name)) for name in ("HEAD", *self._names())}
        locks = worktrees.lock_names(self._git, shared=self._shared)
        looks |= {name: signature_if_exists(shared / name) for name in locks}
        looks["objects"] = (self._objects(),)
        if self._shared:
            try:
                looks |= {f"refs/{name}": own for name, own in survey(shared / "refs").items()}
            except (TooManyFiles, OSError):
                return {}
            looks |= {name: signature_if_exists(shared / name) for name in ("packed-refs", "reftable/tables.list")}
        return looks

    def _locks(self) -> list[str]:
        """The locks that exist, from the directory that all work trees have in common."""
        directory, names = self._git.location().shared, worktrees.lock_names(self._git, shared=self._shared)
        existing = [name for name in names if os.path.lexists(directory / name)]
        return [*existing, *(worktrees.locks_below(directory, "refs") if self._shared else ())]

    def _objects(self) -> int:
        """The inode of the object directory; 0 if there is none."""
        try:
            return (self._git.location().shared / "objects").stat().st_ino
        except OSError:
            return 0

    # What is put back

    def _put_back_locks(self, state: RepositoryState, who: str) -> list[str]:
        """Remove the locks of a git that ended with the program; one that is still at work keeps its own."""
        locks = [name for name in self._locks() if name not in state.locks]
        if not locks:
            return []
        held = worktrees.sweep_shared_locks(self._git, locks, shared=self._shared)
        removed = [f".git/{name}" for name in locks if name not in held]
        notes = [f"{who} left {_listed(removed)}, and no git was at work: removed"] if removed else []
        return [*notes, *(f"a git that is still at work holds `.git/{name}`" for name in held)]

    def _put_back_files(self, state: RepositoryState, who: str) -> list[str]:
        """Put back what git reads before it does anything: settings, what hides files, what is under way."""
        notes: list[str] = []
        others = [name for name in self._names() if name not in (INDEX, STASHES) and not name.startswith(SPLIT)]
        for name in self._files.changed(others, state.files):
            if name == "shallow" and name in state.files:
                continue  # a fetch has brought more, or less, of the history
            try:
                if name in ("config", "config.worktree") and not self._files.is_link(name):
                    notes += self._put_back_settings(name, who)
                    continue
                self._files.put_back(name)
            except (OSError, GitFailed) as error:
                notes.append(f"{who} changed `.git/{name}`, which cannot be put back: {_why(error)}")
                continue
            if name in OPERATIONS and name in state.files:
                notes.append(f"{who} ended a {OPERATIONS[name]} of yours: `.git/{name}` is there again")
            elif name in OPERATIONS:
                notes.append(f"{who} left a {OPERATIONS[name]} under way: `.git/{name}` was removed")
            elif name not in OF_OPERATIONS:
                notes.append(f"{who} changed `.git/{name}`: it is as before")
        return notes

    def _put_back_settings(self, name: str, who: str) -> list[str]:
        """Put back settings that are gone, and those by which git sees the work tree; the others are named."""
        copy, file = self._files.copy_of(name), self._files.path(name)
        try:
            changes = setting_changes(self._git, copy, file)
        except GitFailed:
            self._files.put_back(name)
            return [f"{who} broke `.git/{name}`: it is as before"]
        if changes.staying:
            put_back_settings(self._git, copy, file, changes.back)
        else:
            self._files.put_back(name)
        notes = []
        if changes.back:
            notes.append(f"{who} changed settings of the repository, which are as before: {_listed(changes.back)}")
        if changes.staying:
            notes.append(f"{who} changed settings of the repository, which stay: {_listed(changes.staying)}")
        return notes

    def _put_back_refs(self, state: RepositoryState, who: str, *, resumed: bool) -> RepositoryNotes:
        if self._shared:
            (self._git.location().shared / "refs/heads").mkdir(parents=True, exist_ok=True)
        self._repair_head(state)
        refs = RefState(self._git, HeadState(state.branch, state.commit), state.refs, shared=self._shared)
        notes = refs.put_back(state.run, state.iteration, who, resumed=resumed)
        if self._shared and not resumed and self._files.changed([STASHES], state.files):
            self._files.put_back(STASHES)
        return RepositoryNotes(notes.notes, notes.left)

    def _repair_head(self, state: RepositoryState) -> None:
        """Write HEAD if git cannot read it: without one this is no repository for git."""
        head = self._git.location().directory / "HEAD"
        with suppress(OSError):
            text = head.read_text(errors="replace").strip()
            if text.startswith("ref: refs/") or (len(text) in (40, 64) and set(text) <= set("0123456789abcdef")):
                return
        atomic.write_text(head, f"ref: {state.branch}\n" if state.branch else f"{state.commit}\n", durable=False)

    def _put_back_index(self, state: RepositoryState, who: str) -> RepositoryNotes:
        """Put back the index, and bring it along if the program made commits that stay."""
        names = {*(name for name in (*self._names(), *state.files) if name.startswith(SPLIT)), INDEX}
        changed = self._files.changed(names, state.files)
        notes = self._hidden(who) if INDEX in changed else RepositoryNotes()
        for name in sorted(changed, key=lambda name: name == INDEX):
            self._files.put_back(name)
        head = self._git.head()
        if head and head != state.commit:
            follow_head(self._git, state.commit, head)
        return notes

    def _hidden(self, who: str) -> RepositoryNotes:
        """What the program hid from git by flags of the index."""
        index, copy = self._git.index_file, self._files.copy_of(INDEX)
        if not index.exists():
            return RepositoryNotes((f"{who} removed the index: it is as before",))
        try:
            now = index_entries(self._git, index)
        except GitFailed:
            return RepositoryNotes((f"{who} broke the index: it is as before",))
        try:
            before = index_entries(self._git, copy) if copy.exists() else {}
        except GitFailed:  # what it was split from is gone until it is put back
            return RepositoryNotes()
        hidden = list(hidden_paths(before, now))
        if not hidden:
            return RepositoryNotes()
        named = _listed([f"{file_name(path)} ({flag})" for path, flag in hidden])
        skipped = tuple(path for path, flag in hidden if flag == SKIPPED)
        return RepositoryNotes((f"{who} set flags of the index, which are as before: {named}",), skipped=skipped)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMED]) + more


def _why(error: Exception) -> str:
    return error.message if isinstance(error, GitFailed) else str(error)


def under_way(git: Git) -> dict[str, str]:
    """The commands that wait to be continued in this work tree, by the file or directory that says so."""
    directory = git.location().directory
    return {name: command for name, command in OPERATIONS.items() if os.path.lexists(directory / name)}
