"""A repository before an agent or a check worked in it, and putting back what that changed.

A program may do to the repository whatever git can do. The files that it writes are its work; the index, HEAD, the
branches and what git is told to hide belong to the person. They are saved before it starts, on disk, so that a
killed Samuel can put them back when it resumes. Commits on top of the branch that is checked out stay.

When a killed run resumes, a person may have worked in the repository since. What was changed after the run was
last alive is theirs: it stays, and is named.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import SamuelError
from samuel.base.printable import file_name
from samuel.files import atomic
from samuel.files.survey import Signature, TooManyFiles, signature_if_exists, survey
from samuel.git import worktrees
from samuel.git.git import HEADS, Git, GitFailed
from samuel.git.hook_state import hook_names, is_hook, put_back_hooks, put_back_settings, setting_changes
from samuel.git.index_state import INDEX, SPLIT, IndexChanges, SavedIndex, index_tree, named_paths
from samuel.git.kept_refs import KeptRefs, agent_ref, before_ref
from samuel.git.ref_state import HeadState, RefState, named_ref, read_head, read_refs
from samuel.git.saved_files import SHARED, SavedFiles

FILE = "state.json"
SCRATCH = "held-index"  # a copy of the index that git may write to
LAST_INDEX = "last-index"  # what the index was when the run was last alive
ALIVE = "alive"  # when that was
BEAT = 0.5  # seconds between two signs of life
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
MERGED = "AUTO_MERGE"  # the tree that git wrote into the work tree, with the marks of conflicts
FILES_OF_OPERATIONS = (
    *("MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", MERGED, "SQUASH_MSG", "REBASE_HEAD"),
    *("sequencer", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK"),
)
REPLACED = "without what was committed; restore `.git` from a copy, or from where you pushed it"
MOST_HELD = 500  # branches, and stashes


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
    worktrees: dict[str, str] = {}
    """Where the linked work trees are, by the names that git gave them."""


class RepositoryNotes(NamedTuple):
    """What a program did to a repository, and what was done about it."""

    notes: tuple[str, ...] = ()
    left: str = ""
    """The commit that HEAD was at, if HEAD or its branch was put back."""
    skipped: tuple[str, ...] = ()
    """The paths, from the top of the work tree, that the index said are not in it, and did not before."""
    staged: tuple[str, ...] = ()
    """The paths that a person had staged and the program committed."""
    since: tuple[str, ...] = ()
    """The paths that a person staged after the run was killed."""
    merged: str = ""
    """The tree that git wrote for a merge which the program left under way; "" for none."""


class SavedRepository:
    """The state of the repository of `git`, saved in `directory`, which is for this work tree alone."""

    def __init__(self, git: Git, directory: Path, *, shared: bool = True) -> None:
        """`shared` False: refs and settings belong to others who work at the same time, and are left alone."""
        self._git = git
        self._directory = directory
        self._shared = shared
        self.state: RepositoryState | None = None
        self._looks: dict[str, Signature] = {}
        self._last_index: Signature = ()
        self._held: tuple[tuple[str, ...], Signature] = ((), ())  # the commits and the index that a ref holds

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
        files = self._files.save(self._names(), last.files if last else {})
        self.state = RepositoryState(
            run=run,
            iteration=iteration,
            branch=head.branch,
            commit=head.commit,
            refs=refs,
            files=files,
            locks=tuple(self._locks()),
            objects=self._objects(),
            worktrees=worktrees.linked(self._git) if self._shared else {},
        )
        data = json.dumps(msgspec.to_builtins(self.state)).encode()  # names may be no UTF-8
        atomic.write_bytes(self._directory / FILE, data, 0o600, durable=False)
        (self._directory / LAST_INDEX).unlink(missing_ok=True)
        self._looks = self._look()
        self._last_index = self._looks.get(INDEX, ())

    def _hold(self, run: str, head: HeadState, refs: dict[str, str]) -> dict[str, str]:
        """Let a ref hold branches, stashes and the index, so that `git gc` keeps them; gives the refs with it."""
        tips = [head.commit, *(commit for name, commit in refs.items() if name.startswith(HEADS))][:MOST_HELD]
        with suppress(OSError, IndexError):
            stashes = self._files.path(STASHES).read_text(errors="replace").splitlines()
            tips += [line.split(" ")[1] for line in stashes[-MOST_HELD:]]
        commits, ref = tuple(sorted({commit for commit in tips if commit})), before_ref(run)
        held = (commits, signature_if_exists(self._git.index_file))
        if not any(held) or (ref in refs and held == self._held):
            return refs
        kept_refs = KeptRefs(self._git)
        with suppress(GitFailed, OSError):
            tree = index_tree(self._git, self._directory / SCRATCH) if held[1] else self._git.empty_tree()
            commit = kept_refs.commit(tree, commits, "samuel: before an attempt\n")
            kept_refs.set_ref(ref, commit)
            self._held = held
            return {**refs, ref: commit}
        return refs

    def observe(self) -> None:
        """Note that this process is alive, and what the index is: called again and again while a program works."""
        alive, index, copy = self._directory / ALIVE, self._git.index_file, self._directory / LAST_INDEX
        with suppress(OSError):
            alive.touch()
            if (signature := signature_if_exists(index)) != self._last_index:
                shutil.copyfile(index, copy)
                self._last_index = signature

    @property
    def last_alive(self) -> float:
        """When the process that saved the state was last alive; it may have been a moment later."""
        times = [_changed_at(self._directory / name) for name in (ALIVE, FILE)]
        return max(times) + 2 * BEAT

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

    def put_back(self, who: str, *, last_alive: float | None = None) -> RepositoryNotes:
        """Put back what a program changed since `save`; gives what was done. `who` is that program, in words.

        `last_alive` is when the process was last alive that saved it; None if that is this one. What was changed
        later is a person's. Raises SamuelError if it cannot be put back without undoing what a person began.
        """
        state = self.state
        if state is None or not self._objects():
            return RepositoryNotes()
        if self._looks and self._look() == self._looks:
            self.forget()
            return RepositoryNotes()
        if self._objects() != state.objects:
            self.forget()
            return RepositoryNotes((f"{who} replaced the repository by another one, {REPLACED}",))
        persons = self._changed_after(state, last_alive) if last_alive is not None else frozenset[str]()
        self._refuse_under_way(state, persons)
        merged = self._merged(state, persons)
        notes = [*self._put_back_locks(state, who), *self._put_back_files(state, who, persons)]
        if self._shared:
            notes += worktrees.linked_notes(state.worktrees, worktrees.linked(self._git), who)
        left, index_changes = "", IndexChanges()
        try:
            ref_notes = self._put_back_refs(state, who, resumed=last_alive is not None)
            notes, left = [*notes, *ref_notes.notes], ref_notes.left
        except (GitFailed, OSError) as error:
            notes.append(f"{who} changed refs, which cannot be put back: {_why(error)}")
        try:
            index = SavedIndex(self._git, self._files, state.files)
            head = read_head(self._git, read_refs(self._git))
            if last_alive is not None and head != (state.branch, state.commit):
                index_changes = IndexChanges(since=index.staged() if INDEX in persons else ())
            elif INDEX in persons and not left:
                index_changes = index.put_back_agents(who, self._directory / LAST_INDEX)
            else:
                if INDEX in persons:
                    notes.append(self._hold_index(state, left))
                index_changes = index.put_back(who, state.commit)
        except (GitFailed, OSError) as error:
            notes.append(f"{who} changed the index, which cannot be put back: {_why(error)}")
        self.forget()
        return RepositoryNotes((*notes, *index_changes.notes), left, *index_changes[1:], merged)

    def _merged(self, state: RepositoryState, persons: frozenset[str]) -> str:
        if MERGED in persons or MERGED in state.files:
            return ""
        try:
            return self._files.path(MERGED).read_text(errors="replace").strip()
        except OSError:
            return ""

    def _hold_index(self, state: RepositoryState, commit: str) -> str:
        """Let a ref hold the index of a person, which fits `commit`; words for the note."""
        ref, kept_refs = agent_ref(state.run, state.iteration, "index"), KeptRefs(self._git)
        tree = index_tree(self._git, self._directory / SCRATCH)
        kept_refs.set_ref(ref, kept_refs.commit(tree, commit, "samuel: the index before it was put back\n"))
        return (
            "the index was changed after the run was killed, and fitted the branch that was checked out: "
            f"it is as before; what was staged is in `{ref}`"
        )

    def _changed_after(self, state: RepositoryState, moment: float) -> frozenset[str]:
        """The files that were changed after this moment; those that are gone count as the index does."""
        names = self._files.changed(dict.fromkeys((*self._names(), *state.files)), state.files)
        times = {name: _changed_at(self._files.path(name)) for name in names}
        later = {name for name, time in times.items() if time > moment}
        return frozenset(later | {name for name in names if not times[name] and INDEX in later})

    def _refuse_under_way(self, state: RepositoryState, persons: frozenset[str]) -> None:
        """Raise SamuelError if a person began a merge or the like elsewhere: HEAD must not move below it."""
        begun = [OPERATIONS[name] for name in OPERATIONS if name in persons and name not in state.files]
        if begun and read_head(self._git, read_refs(self._git)).branch != state.branch:
            end = "`git bisect reset`" if begun[0] == "bisect" else f"`git {begun[0]} --continue` or `--abort`"
            where = named_ref(state.branch) if state.branch else f"{state.commit[:12]}"
            raise SamuelError(
                f"a {begun[0]} was begun after the run was killed, and the run works on {where}, which is not "
                "checked out",
                f"end it: {end}, then start again",
            )

    # What is looked at

    @property
    def _files(self) -> SavedFiles:
        return SavedFiles(self._git.location(), self._directory / "files")

    def _names(self) -> Iterator[str]:
        yield from (INDEX, "config.worktree", "info/sparse-checkout", *OPERATIONS, *FILES_OF_OPERATIONS)
        yield from sorted(path.name for path in self._git.location().directory.glob(f"{SPLIT}*"))
        if self._shared:
            yield from SHARED
            yield from hook_names(self._git.location())

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
            others = ("packed-refs", "reftable/tables.list", "worktrees")
            looks |= {name: signature_if_exists(shared / name) for name in others}
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
        notes = [f"{who} left {named_paths(removed)}, and no git was at work: removed"] if removed else []
        return [*notes, *(f"a git that is still at work holds `.git/{name}`" for name in held)]

    def _put_back_files(self, state: RepositoryState, who: str, persons: frozenset[str]) -> list[str]:
        """Put back what git reads before it does anything: settings, hooks, what hides files or is under way."""
        notes = self._put_back_hooks(state, who, persons) if self._shared else []
        others = [name for name in self._names() if name not in (INDEX, STASHES) and not name.startswith(SPLIT)]
        is_begun = any(name in OPERATIONS for name in persons)
        for name in self._files.changed((name for name in others if not is_hook(name)), state.files):
            if name == "shallow" and name in state.files:
                continue  # a fetch has brought more, or less, of the history
            if name in persons or (is_begun and name in FILES_OF_OPERATIONS):
                continue
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
            elif name not in FILES_OF_OPERATIONS:
                notes.append(f"{who} changed `.git/{name}`: it is as before")
        if named := sorted(f".git/{name}" for name in persons - {STASHES} - {*FILES_OF_OPERATIONS}):
            notes.append(f"changed after the run was killed, and left so: {named_paths(named)}")
        return notes

    def _put_back_hooks(self, state: RepositoryState, who: str, persons: frozenset[str]) -> list[str]:
        ref = agent_ref(state.run, state.iteration, "hooks")
        try:
            changes = put_back_hooks(self._git, self._files, state.files, ref, persons)
        except OSError as error:
            return [f"{who} changed hooks of git, which cannot be put back: {error}"]
        if not changes.names:
            return []
        held = f"; what it had is in `{changes.held}`" if changes.held else ""
        named = named_paths([f".git/{file_name(name)}" for name in changes.names])
        return [f"{who} changed hooks, which git would run for you: they are as before: {named}{held}"]

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
            notes.append(
                f"{who} changed settings of the repository, which are as before: {named_paths(changes.back)}"
            )
        if changes.staying:
            notes.append(f"{who} changed settings of the repository, which stay: {named_paths(changes.staying)}")
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


def _changed_at(path: Path) -> float:
    """When a file last changed; 0.0 if there is none."""
    try:
        return os.lstat(path).st_ctime
    except OSError:
        return 0.0


def _why(error: Exception) -> str:
    return error.message if isinstance(error, GitFailed) else str(error)


def under_way(git: Git) -> dict[str, str]:
    """The commands that wait to be continued in this work tree, by the file or directory that says so."""
    directory = git.location().directory
    return {name: command for name, command in OPERATIONS.items() if os.path.lexists(directory / name)}
