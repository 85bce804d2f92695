"""What changes in a repository while several agents work: refs and settings that all work trees share.

The person may be at work in the same repository, so it cannot be told who changed a ref. What Samuel itself made
is put back, and so are settings that decide what git sees. All else is named, and kept where `git gc` sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from samuel.attempt.workplace import Workplace
from samuel.base.printable import file_name, listed, shell_word
from samuel.git import worktrees
from samuel.git.git import GitFailed, branch_ref
from samuel.git.hook_state import hook_names, put_back_hooks, put_back_settings, setting_changes
from samuel.git.kept_refs import NOTES, PREFIX, KeptRefs, agent_ref, run_prefix
from samuel.git.ref_state import MIRRORS, REFS_OF_OPERATIONS, STASH, named_ref, read_refs
from samuel.git.saved_files import HOOKS, SavedFiles
from samuel.history.run_state import RunState
from samuel.receipts.notes import ReceiptNotes
from samuel.workspaces.lanes.branch import Branch
from samuel.workspaces.lanes.person_changes import PersonChanges

CONFIG = "config"
HIDING = ("info/exclude", "info/attributes", "info/grafts")
MOST_NAMED = 5


class SharedRefs:
    """The refs and settings of the repository of a run with lanes, as they were when they were last looked at."""

    def __init__(self, place: Workplace, shared: RunState, branch: Branch, directory: Path) -> None:
        """`directory` is Samuel's own, beside the lanes."""
        self._git = place.git
        self._shared = shared
        self._landing = branch.refs
        self._lanes = directory.parent
        self._refs = read_refs(place.git)
        self._stashes = self._read_stashes(self._refs)
        self._locks_before = self._locks()
        self._files = SavedFiles(place.git.location(), directory / "shared")
        self._signatures = self._files.save(self._file_names(), {})
        self._linked = worktrees.linked(place.git)
        self._person = PersonChanges(place.git, branch.marks)
        self._run_refs = KeptRefs(place.git)
        self._receipts = ReceiptNotes(place.git)
        self._receipt_blobs = self._receipts.blobs()

    def look(self) -> tuple[str, ...]:
        """What changed since the last look, and what was done about it."""
        try:
            notes = [*self._look_at_locks(), *self._look_at_settings(), *self._look_at_hooks()]
            notes += [*self._look_at_refs(), *self._look_at_worktrees(), *self._person.files()]
        except (GitFailed, OSError) as error:
            return (f"what agents did to the refs and settings of the repository is not known: {error}",)
        return tuple(notes)

    def expect_receipts(self, commits: Iterable[str]) -> None:
        """Expect the receipts of these commits to stay what they are now: Samuel wrote them."""
        blobs = self._receipts.blobs()
        self._receipt_blobs |= {commit: blobs[commit] for commit in commits if commit in blobs}

    def expect_refs(self, *names: str) -> None:
        """Expect these refs to be what they are now, or to be gone: Samuel changed them."""
        now = read_refs(self._git)
        refs = {name: commit for name, commit in self._refs.items() if name not in names}
        self._refs = {**refs, **{name: now[name] for name in names if name in now}}

    def _look_at_receipts(self) -> list[str]:
        """Put receipts back that are gone or changed. New ones stay: another run may have written them."""
        if not self._receipt_blobs:
            return []
        restored = self._receipts.restore(self._receipt_blobs)
        self._receipt_blobs = self._receipts.blobs()
        if not restored:
            return []
        named = listed([commit[:12] for commit in restored], MOST_NAMED)
        return [f"while agents worked, receipts were changed or removed, and are there again: {named}"]

    def _look_at_refs(self) -> list[str]:
        before, now = self._refs, read_refs(self._git)
        own, notes = run_prefix(self._shared.run.run_id), []
        gone = [name for name in before if name.startswith(own) and name not in now]
        for name in gone:
            self._run_refs.set_ref(name, before[name])
        if gone:
            notes.append(f"refs of this run were removed, and are there again: {_listed(gone)}")
        others = {name for name in {*before, *now} if before.get(name) != now.get(name)}
        forward = self._moved_forward(before, now)
        others -= {STASH, branch_ref(self._shared.lanes.branch), *forward}
        for name in sorted(name for name in forward if name in before and before[name] != now[name]):
            notes += self._person.commits(named_ref(name), before[name], now[name])
        silent = (f"{PREFIX}/", NOTES, MIRRORS, *REFS_OF_OPERATIONS)
        for name in sorted(name for name in others if not name.startswith(silent)):
            notes.append(self._named(name, before.get(name, ""), now.get(name, "")))
        notes += self._look_at_receipts()
        self._refs = {**now, **{name: before[name] for name in gone}}
        return [*notes, *self._look_at_stashes()]

    def _look_at_stashes(self) -> list[str]:
        """What became of the stashes. `git update-ref` would bring back none: git lists them by their reflog."""
        before, self._stashes = self._stashes, self._read_stashes(self._refs)
        new_stashes = [commit for commit in self._stashes if commit not in before]
        notes = [f"while agents worked, `{STASH}` was made, at {commit[:12]}; it stays" for commit in new_stashes]
        if dropped := [commit for commit in before if commit not in self._stashes]:
            for commit in dropped:
                self._keep(STASH, commit)
            commands = ", ".join(f"`git stash store {shell_word(commit[:12])}`" for commit in reversed(dropped))
            notes.append(f"while agents worked, stashes were dropped; this brings them back: {commands}")
        return notes

    def _read_stashes(self, refs: Mapping[str, str]) -> list[str]:
        """The commits of the stashes, the last one first."""
        if STASH not in refs:
            return []
        listed = self._git.run("log", "--walk-reflogs", "--format=%H", STASH, "--").decode().split()
        return listed or [refs[STASH]]

    def _named(self, name: str, old: str, new: str) -> str:
        if not old:
            return f"while agents worked, {named_ref(name)} was made, at {new[:12]}; it stays"
        self._keep(name, old)
        what = f"was moved from {old[:12]} to {new[:12]}" if new else f"was removed; it was at {old[:12]}"
        command = f"`git update-ref {shell_word(name)} {shell_word(old[:12])}`"
        return f"while agents worked, {named_ref(name)} {what}; {command} takes that back"

    def _keep(self, name: str, commit: str) -> None:
        """Let a ref of the run hold what a ref had, so that `git gc` keeps it."""
        ref = agent_ref(self._shared.run.run_id, self._shared.run.iterations_run, f"{name}/{commit[:12]}")
        self._run_refs.set_ref(ref, commit)

    def _moved_forward(self, before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
        """The branches that are checked out outside of lanes and got commits: those may be the person's own."""
        entries = [entry for entry in worktrees.entries(self._git) if entry.path.parent != self._lanes]
        names = {branch_ref(entry.branch) for entry in entries if entry.branch}
        return {
            name
            for name in names
            if name in now and (name not in before or self._landing.is_ancestor(before[name], now[name]))
        }

    def _locks(self) -> list[str]:
        names, shared = worktrees.lock_names(self._git, shared=False), self._git.location().shared
        return [name for name in names if (shared / name).exists()]

    def _look_at_locks(self) -> list[str]:
        """Remove the locks on the work tree of the person, unless a git is at work in it."""
        left = [name for name in self._locks() if name not in self._locks_before]
        held = worktrees.sweep_shared_locks(self._git, left, shared=False)
        removed = [f".git/{name}" for name in left if name not in held]
        return [f"while agents worked, `{lock}` was left, and no git was at work: removed" for lock in removed]

    def _look_at_settings(self) -> list[str]:
        notes: list[str] = []
        for name in self._files.changed((CONFIG, *HIDING), self._signatures):
            if name != CONFIG:
                self._files.put_back(name)
                notes.append(f"while agents worked, `.git/{name}` was changed: it is as before")
                continue
            copy, file = self._files.copy_of(name), self._files.path(name)
            try:
                changes = setting_changes(self._git, copy, file)
            except GitFailed:
                self._files.put_back(name)
                notes.append(f"while agents worked, `.git/{name}` was broken: it is as before")
                continue
            put_back_settings(self._git, copy, file, changes.back)
            for keys, word in ((changes.back, "are as before"), (changes.staying, "stay")):
                if keys:
                    notes.append(f"while agents worked, settings were changed, which {word}: {_listed(keys)}")
        return notes

    def _look_at_hooks(self) -> list[str]:
        """Put back the hooks: git would run what an agent put there at the next commit of the person."""
        ref = agent_ref(self._shared.run.run_id, self._shared.run.iterations_run, HOOKS)
        changes = put_back_hooks(self._git, self._files, self._signatures, ref)
        self._signatures = self._files.save(self._file_names(), self._signatures)
        if not changes.names:
            return []
        held = f"; what was there is in `{changes.held}`" if changes.held else ""
        named = _listed([f".git/{file_name(name)}" for name in changes.names])
        return [f"while agents worked, hooks of git were changed: they are as before: {named}{held}"]

    def _look_at_worktrees(self) -> list[str]:
        before, self._linked = self._linked, worktrees.linked(self._git)
        theirs = [
            {name: path for name, path in linked.items() if Path(path).parent != self._lanes}
            for linked in (before, self._linked)
        ]
        return worktrees.linked_notes(theirs[0], theirs[1], "while agents worked, one of them or a person")

    def _file_names(self) -> tuple[str, ...]:
        return (CONFIG, *HIDING, *hook_names(self._git.location()))


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return listed([f"`{name}`" for name in names], MOST_NAMED)
