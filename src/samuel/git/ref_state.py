"""The refs and the HEAD of a repository before a program worked in it, and putting them back.

What the program itself made stays, and is named. What was there before is put back: the branch that is checked out
unless the program only added commits to it, every other ref unless it mirrors another repository or is checked out
in another work tree, where a person may be at work. When a killed run resumes, a person may have worked meanwhile:
then only HEAD, the branch that was checked out and Samuel's own refs are put back, and the others are named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from samuel.base.printable import listed, shell_word
from samuel.git import worktrees
from samuel.git.git import HEADS, Git, GitFailed, branch_ref
from samuel.git.index_state import follow_head
from samuel.git.kept_refs import (
    BRANCHES,
    DISCARDED,
    NOTES,
    PREFIX,
    KeptRefs,
    agent_ref,
    branch_prefix,
    run_prefix,
)

STASH = "refs/stash"
MIRRORS = "refs/remotes/"
REFS_OF_OPERATIONS = ("refs/bisect/", "refs/rewritten/", "refs/worktree/")  # of a bisection or a rebase under way
DECISIVE = (f"{PREFIX}/", NOTES, "refs/replace/", STASH)
"""Refs that change what Samuel or git takes for true, or what `git stash pop` takes: new ones are removed."""
MESSAGE = "samuel: put back"
MOST_NAMED = 5  # refs in one note
_KINDS = {HEADS: "branch", "refs/tags/": "tag"}


class HeadState(NamedTuple):
    branch: str
    """The ref that is checked out; "" when detached."""
    commit: str
    """"" before the first one."""


class RefNotes(NamedTuple):
    notes: tuple[str, ...]
    left: str = ""
    """The commit that HEAD was at, if it was moved in another way than by new commits."""


def read_refs(git: Git) -> dict[str, str]:
    """The object of every ref, by its full name; symbolic ones are left out. Raises GitFailed."""
    output = git.run("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)").decode("utf-8", "replace")
    rows = (line.split("\0") for line in output.splitlines())
    return {name: object for name, object, target in rows if not target}


def read_head(git: Git, refs: Mapping[str, str]) -> HeadState:
    """What is checked out. Raises GitFailed."""
    text = ""
    with suppress(OSError):
        text = git.index_file.with_name("HEAD").read_text(errors="replace").strip()
    branch = text.removeprefix("ref:").strip()
    if text.startswith("ref:") and branch != f"{HEADS}.invalid":  # which the reftable format writes
        return HeadState(branch, refs.get(branch, ""))
    if text and not text.startswith("ref:"):
        return HeadState("", git.head())
    try:
        branch = git.run("symbolic-ref", "--quiet", "HEAD").decode("utf-8", "surrogateescape").strip()
    except GitFailed:
        branch = ""
    return HeadState(branch, git.head())


class RefState:
    """The refs of a repository as they were, for comparison with what they are now."""

    def __init__(self, git: Git, head: HeadState, refs: Mapping[str, str], *, shared: bool = True) -> None:
        """`shared` False: only HEAD is put back, since others work with the same refs at the same time."""
        self._git = git
        self._head = head
        self._refs = refs
        self._shared = shared
        self._run_refs = KeptRefs(git)

    def put_back(self, run: str, iteration: int, who: str, *, resumed: bool = False) -> RefNotes:
        """Put back what was there; gives what was done. Raises GitFailed if the refs cannot be read."""
        now = read_refs(self._git)
        head = read_head(self._git, now)
        notes = [*self._leave_to_the_person(head, now), *self._commit_notes(now)] if resumed else []
        moved_head = self._is_moved(head, now)
        if self._shared:
            notes += self._put_back_refs(run, iteration, who, head, now)
        if moved_head:
            notes.insert(0, self._put_back_head(run, iteration, who, head))
        # A branch that was checked out and then removed had its files in the work tree, too.
        left = head.commit or self._refs.get(head.branch, "") if moved_head or self._is_rewound(now) else ""
        return RefNotes(tuple(notes), left)

    def _leave_to_the_person(self, head: HeadState, now: Mapping[str, str]) -> list[str]:
        """Take refs that are not Samuel's as they are now: who changed them since is not known. Names them."""
        changed = [name for name in sorted({*self._refs, *now}) if self._refs.get(name) != now.get(name)]
        others = [name for name in changed if name != self._head.branch and not name.startswith(f"{PREFIX}/")]
        left = set(others)
        if self._is_finished(head, now):
            left |= {name for name in changed if name.startswith((self._memory, self._head.branch))}
            self._head = head
        theirs = {name: now[name] for name in left if name in now}
        self._refs = {name: commit for name, commit in self._refs.items() if name not in left} | theirs
        named = [named_ref(name) for name in others if not name.startswith(MIRRORS)]
        if not named:
            return []
        return [f"changed since the attempt that was cut off began, and left so: {listed(named, MOST_NAMED)}"]

    def _commit_notes(self, now: Mapping[str, str]) -> list[str]:
        """Name new commits on the branch: the agent or a person may have made them."""
        old, new = self._head.commit, now.get(self._head.branch, "")
        if not old or old == new or not new or not self._goes_on(old, new):
            return []
        log = self._git.run("log", "--format=%h %s", f"{old}..{new}").decode("utf-8", "replace").splitlines()
        words = "commits since the attempt that was cut off began stay on"
        return [f"{words} {named_ref(self._head.branch)}: {listed(log, MOST_NAMED, '; ')}"]

    @property
    def _memory(self) -> str:
        """Where Samuel remembers where the branch came from that was checked out, if that was one of a run."""
        return branch_prefix(self._head.branch.removeprefix(HEADS))

    def _is_finished(self, head: HeadState, now: Mapping[str, str]) -> bool:
        """Whether the branch of a run was merged or discarded, by which Samuel forgets where it came from."""
        memory = self._memory
        if self._head.branch in now or not any(name.startswith(memory) for name in self._refs):
            return False
        left = {name.removeprefix(memory) for name in now if name.startswith(memory)}
        return left == {DISCARDED} or (not left and self._goes_on(self._head.commit, head.commit))

    def _is_moved(self, head: HeadState, now: Mapping[str, str]) -> bool:
        """Whether HEAD itself was moved: to another branch, or, where it is detached, to what does not go on."""
        if head.branch != self._head.branch:
            return True
        return not head.branch and not self._goes_on(self._head.commit, head.commit)

    def _is_rewound(self, now: Mapping[str, str]) -> bool:
        branch = self._head.branch
        return bool(branch) and not self._goes_on(self._head.commit, now.get(branch, ""))

    def _put_back_head(self, run: str, iteration: int, who: str, head: HeadState) -> str:
        where = f"switched to {named_ref(head.branch)}" if head.branch else f"moved HEAD to {head.commit[:12]}"
        target = f"on {named_ref(self._head.branch)}" if self._head.branch else f"at {self._head.commit[:12]}"
        held = self._keep(run, iteration, "HEAD", head.commit)
        if self._head.branch:
            self._write("symbolic-ref", "-m", MESSAGE, "HEAD", self._head.branch)
        else:
            self._write("update-ref", "--no-deref", "-m", MESSAGE, "HEAD", self._head.commit)
        return f"{who} {where}: HEAD is {target} again{held}"

    def _put_back_refs(
        self, run: str, iteration: int, who: str, head: HeadState, now: Mapping[str, str]
    ) -> list[str]:
        names = {name for name in {*self._refs, *now} if self._refs.get(name) != now.get(name)}
        names = {name for name in names if not self._is_of_others(name, run, now)}
        if self._goes_on(self._head.commit, now.get(self._head.branch, "")):
            names.discard(self._head.branch)
        if not names:
            return []
        names -= self._checked_out_elsewhere()
        back = {name for name in names if name in self._refs}
        in_the_way = {name for name in names - back if _conflicts(name, back) or name.startswith(DECISIVE)}
        operations = {name for name in names - back if name.startswith(REFS_OF_OPERATIONS)}
        notes = []
        for name in sorted(in_the_way | operations):
            held = self._keep(run, iteration, name, now[name])
            args = ["update-ref", "--no-deref", "-d", name]
            notes += self._change(args, f"{who} made {named_ref(name)}", "removed", held)
        for name in sorted(back):
            old, new = self._refs[name], now.get(name, "")
            held = self._keep(run, iteration, name, new) if new and not self._goes_on(new, old) else ""
            what = f"moved {named_ref(name)} to {new[:12]}" if new else f"removed {named_ref(name)}"
            args = ["update-ref", "--no-deref", "-m", MESSAGE, name, old]
            notes += self._change(args, f"{who} {what}", f"at {old[:12]} again", held)
        for name in sorted(names - back - in_the_way - operations):
            notes.append(f"{who} made {named_ref(name)}, which stays: {_removal(name)} removes it")
        return [note for note in notes if note]

    def _is_of_others(self, name: str, run: str, now: Mapping[str, str]) -> bool:
        """Whether others may change the ref meanwhile: a fetch, or a run of another methodology its own.

        Where a branch came from decides what `samuel run finish` merges it into, so it may not change.
        """
        branches = f"{PREFIX}/{BRANCHES}/"
        memories = (
            f"{branches}{ref.removeprefix(branches).partition('/')[0]}/"
            for ref in self._refs
            if ref.startswith(branches)
        )
        own = (run_prefix(run), *memories)
        of_a_run = name.startswith(f"{PREFIX}/") and not name.startswith(own) and name in now
        return name.startswith(MIRRORS) or of_a_run

    def _change(self, args: Sequence[str], what: str, result: str, held: str) -> list[str]:
        try:
            self._write(*args)
        except GitFailed as error:
            return [f"{what}, and it could not be put back: {error.message}"]
        return [f"{what}: it is {result}{held}"]

    def _keep(self, run: str, iteration: int, name: str, commit: str) -> str:
        """Keep what the program had there where `git gc` sees it; words for the note, "" if nothing is lost."""
        commits_before = [self._head.commit, *self._refs.values()]
        if not commit or name.startswith((f"{PREFIX}/", *REFS_OF_OPERATIONS)) or commit in commits_before:
            return ""
        ref = agent_ref(run, iteration, name)
        try:
            self._run_refs.set_ref(ref, commit)
        except GitFailed:
            return ""
        return f"; what it had is in `{ref}`"

    def _checked_out_elsewhere(self) -> set[str]:
        try:
            entries = worktrees.entries(self._git)
        except GitFailed:
            return set()
        top = self._git.top
        return {branch_ref(entry.branch) for entry in entries if entry.branch and entry.path != top} - {
            self._head.branch
        }

    def _goes_on(self, old: str, new: str) -> bool:
        """Whether `new` is `old` or comes after it."""
        if not old or old == new:
            return True
        if not new:
            return False
        try:
            self._git.run("merge-base", "--is-ancestor", old, new)
        except GitFailed:
            return False
        return True

    def _write(self, *args: str) -> None:
        worktrees.write(self._git, *args)


def _conflicts(name: str, others: Iterable[str]) -> bool:
    """Whether a ref of this name cannot exist beside one of the others: one is the directory of the other."""
    return any(name.startswith(f"{other}/") or other.startswith(f"{name}/") for other in others)


def named_ref(ref: str) -> str:
    """A ref as a person calls it."""
    for prefix, kind in _KINDS.items():
        if ref.startswith(prefix):
            return f"the {kind} `{ref.removeprefix(prefix)}`"
    return f"`{ref}`"


def _removal(ref: str) -> str:
    for prefix, option in ((HEADS, "branch -D"), ("refs/tags/", "tag -d")):
        if ref.startswith(prefix):
            return f"`git {option} {shell_word(ref.removeprefix(prefix))}`"
    return f"`git update-ref -d {shell_word(ref)}`"


class TakenCommits(NamedTuple):
    """Commits that an agent made on the branch that is checked out, and that were taken off it."""

    commits: tuple[str, ...] = ()
    """What git says of each, in a line; the newest first."""
    place: str = ""
    """Where they were, in words."""
    ref: str = ""


def take_back(git: Git, before: str, ref: str, staged: Collection[str]) -> TakenCommits:
    """Move HEAD with its branch back to the commit `before`, "" for none, and keep what it had in `ref`.

    The index goes back, too; files stay as they are.

    `staged` are the paths that a person had staged and that were committed: they are staged again.
    Raises GitFailed.
    """
    head = git.head()
    if not head or head == before:
        return TakenCommits()
    since = f"{before}..{head}" if before else head
    commits = git.run("log", "--format=%h %s", since).decode("utf-8", "replace").splitlines()
    branch = read_head(git, read_refs(git)).branch
    KeptRefs(git).set_ref(ref, head)
    change = ["HEAD", before, head] if before else ["-d", "HEAD", head]
    worktrees.write(git, "update-ref", "-m", MESSAGE, *change)
    follow_head(git, head, before, staged)
    return TakenCommits(tuple(commits or [head[:12]]), named_ref(branch) if branch else "HEAD", ref)
