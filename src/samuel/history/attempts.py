"""What the work tree must be before and after each attempt, and whose changes are in it.

Each task begins with the verified tree: the work tree as of the last completed task, or of the start of the run.
The next attempt of the same task goes on with what the last one left. A failed attempt is kept in a ref. What a
person had changed before the run, or changes while the loop waits, is never written.

Everything that must survive a kill is in `TreeState`. It is saved after each call, and `start` is saved before the
agent starts; a call that was killed is repeated with the state before it, and finishes. Where there is no git
repository nothing is done, and `unavailable` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from msgspec.structs import replace

from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name
from samuel.git.git import GitFailed
from samuel.git.kept_refs import attempt_ref, person_ref, verified_ref
from samuel.git.output import TreeChange
from samuel.git.trees import Trees
from samuel.history.path_set import PathSet, path_of, saved_name
from samuel.history.tree_state import KeptAttempt, TreeState

Retry = Literal["continue", "fresh", "accepted"]
DISCOVERY = "discovery"
"""The name under which the changes of a discovery are put away."""
ACCEPTANCE = "acceptance"
"""The name of an attempt that writes acceptance tests."""

NOTHING_LAID: Mapping[str, bytes | None] = {}

NO_GIT = "the project is in no git repository: what a failed attempt changed stays in the work tree"


class AttemptStart(NamedTuple):
    """How `start` prepared the work tree."""

    tree: str = ""
    restored: tuple[str, ...] = ()
    """The paths that were made what they must be."""
    appeared: tuple[str, ...] = ()
    """The paths that a person changed since the last attempt."""
    problems: tuple[str, ...] = ()
    """Why a path could not be written."""
    conflicts: tuple[str, ...] = ()
    """The paths in which what was accepted does not fit to what was completed since; then none of it is there."""


class AttemptChanges(NamedTuple):
    """What `observe` saw in the work tree."""

    tree: str = ""
    changes: tuple[TreeChange, ...] = ()
    """Everything that differs from the verified tree, but for the person's paths: the work on the task so far."""
    paths: tuple[str, ...] = ()
    """The paths that this attempt changed."""
    person: tuple[str, ...] = ()
    """The person's paths that this attempt changed. They stay as they are now."""


class PutAway(NamedTuple):
    """What `put_away` did."""

    ref: str = ""
    restored: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    """The person's paths that the attempt changed and that were left so."""
    problems: tuple[str, ...] = ()


def is_never_protected(path: str) -> bool:
    """The `is_protected` of an attempt that may go on with everything it left."""
    return False


class Attempts:
    """The work tree of one run; `state` is to be saved after each call.

    Where a method takes `changed`, these are all paths that changed since the last call; None looks at every file.
    """

    def __init__(
        self, trees: Trees | None, run: str, state: TreeState | None = None, lane: int | None = None
    ) -> None:
        self._trees = trees if trees is not None and trees.git.is_repository else None
        self._run = run
        self._lane = "" if lane is None else f"-{lane}"
        self.state = state or TreeState()
        self._person = (self.state.person, PathSet(_paths(self.state.person)))

    @property
    def unavailable(self) -> str:
        """Why nothing is put away or restored; "" where it is."""
        return NO_GIT if self._trees is None else ""

    def begin(self, previous: TreeState | None = None) -> tuple[str, ...]:
        """Begin a new run; gives the paths of a person's own changes, which it never writes.

        `previous` is the state of the run before. A path that its agents changed and that is still what it left is
        Samuel's, and so may be written; every other uncommitted one is the person's.
        """
        if self._trees is None:
            return ()
        tree = self._trees.snapshot()
        dirty, own = self._dirty(), set[str]()
        attempts = self.existing(previous.attempts) if previous is not None else {}
        if previous is not None and not self._exist(previous.verified, previous.left):
            previous = None
        if previous is not None:
            own = set(_paths(previous.owned)) & dirty - self._trees.differing(previous.left, tree)
        verified = self._trees.combined(tree, previous.verified, own) if previous else tree
        self.state = TreeState(
            verified=verified,
            left=tree,
            start=tree,
            attempts=attempts,  # also those of a run in lanes, which knows no work tree
            owned=_names(own),
            person=_names(dirty - own),
        )
        self._keep_verified()
        self._keep_persons()
        return tuple(sorted(dirty - own))

    def existing(self, attempts: Mapping[str, KeptAttempt]) -> dict[str, KeptAttempt]:
        """Those of the attempts, by task, that git still has."""
        if self._trees is None:
            return {}
        return {task: last for task, last in attempts.items() if self._exist(last.tree, last.base)}

    def accept_checks(self) -> None:
        """Take what the checks before the first agent changed in files of the repository as Samuel's own.

        A formatter among them, say: it is part of the verified tree and of the first commit. A file that is new
        is a cache more often than not, so it counts as a person's.
        """
        if self._trees is None or not self.state.verified:
            return
        tree, state = self._trees.snapshot(), self.state
        existing = self._trees.entries(state.left)
        paths = self._trees.differing(state.left, tree) & existing.keys()
        paths = {path for path in paths if not self.is_persons(path)}
        if paths:
            verified = self._trees.combined(state.verified, tree, paths)
            left = self._trees.combined(state.left, tree, paths)
            self.state = replace(state, verified=verified, left=left, owned=_names({*_paths(state.owned), *paths}))
            self._keep_verified()

    def resume(self) -> None:
        """Go on with a run that was killed: what changed while its attempt was under way is that attempt's."""
        if self.state.task:
            self.observe()

    def leave_to_person(self, paths: Iterable[str]) -> None:
        """Take these paths, which changed while the attempt was under way, as a person's: never write them."""
        if self._trees is None or not self.state.verified:
            return
        state, own, tree = self.state, set(paths), self._trees.snapshot()
        verified, start, left = (
            self._trees.combined(old, tree, own) for old in (state.verified, state.start, state.left)
        )
        person = _names({*_paths(state.person), *own})
        self.state = replace(state, verified=verified, start=start, left=left, person=person)
        self._keep_verified()
        self._keep_persons()

    def start(
        self,
        task: str,
        retry: Retry = "continue",
        is_protected: Callable[[str], bool] = is_never_protected,
        laid: Mapping[str, bytes | None] = NOTHING_LAID,
    ) -> AttemptStart:
        """Make the work tree what an attempt of the task must begin with.

        That is the verified tree; with "continue" and what the last attempt of the same task left, except for
        protected paths, those that were put back, and those that a completed task or a person changed since. With
        "accepted" all that it left is merged with these changes, and with what was put back, also a person's own.
        `laid` are files that every attempt of the task begins with, whatever the last one left; None for no file.
        """
        if self._trees is None or not self.state.verified:
            return AttemptStart()
        tree = self._trees.snapshot()
        # A start that was killed has written some of its target already.
        target, conflicts = self._target(task, retry, is_protected, laid)
        if appeared := self._take_in(tree, target):
            target, conflicts = self._target(task, retry, is_protected, laid)
        last = self.state.attempts.get(task)
        accepted = _paths(last.put_back) if retry == "accepted" and last is not None else ()
        restored, problems, tree = self._put(tree, target, accepted)
        # What was written here is Samuel's, also where the attempt changes no more of it.
        owned = _names({*_paths(self.state.owned), *restored})
        self.state = replace(self.state, task=task, start=tree, left=tree, put_back=(), outside=(), owned=owned)
        return AttemptStart(tree, restored, appeared, problems, conflicts)

    def observe(self, changed: Iterable[str] | None = None) -> AttemptChanges:
        """Look at what the attempt under way changed; all of it counts as the attempt's."""
        if self._trees is None or not self.state.verified:
            return AttemptChanges()
        state, tree = self.state, self._trees.snapshot(changed)
        differences = self._trees.changes(state.verified, tree)
        changes = [change for change in differences if not self.is_persons(change.path)]
        if state.start == state.verified:
            paths = {change.path for change in differences}
        else:
            paths = self._trees.differing(state.start, tree)
        persons = {path for path in paths if self.is_persons(path)}
        attempts = dict(state.attempts)
        if state.task:
            last = attempts.get(state.task)
            # Of this attempt: files are put back only after they were looked at.
            whole = self._trees.combined(tree, last.tree, _paths(state.put_back)) if last else tree
            attempts[state.task] = KeptAttempt(whole, state.verified, put_back=state.put_back)
        owned = _names({*_paths(state.owned), *(paths - persons)})
        self.state = replace(state, left=tree, owned=owned, attempts=attempts)
        return AttemptChanges(tree, tuple(changes), tuple(sorted(paths)), tuple(sorted(persons)))

    def changed_names(self) -> list[str]:
        """The paths that differ from the verified tree, as last observed; none whose name is not UTF-8."""
        if self._trees is None or not self.state.verified:
            return []
        paths = self._trees.differing(self.state.verified, self.state.left)
        return sorted(path for path in paths if path == file_name(path) and not self.is_persons(path))

    def hold(self, paths: Iterable[str]) -> None:
        """Let the attempt under way keep these paths, all that are put back now, as they were last observed.

        To be saved before they are written: a kill must not lose what the attempt had there.
        """
        self.state = replace(self.state, put_back=_names(paths))

    def note_outside(self, paths: Iterable[str]) -> None:
        """Let the ref of the attempt under way also have these paths, which are beside the project.

        They are from the top of the repository, and never written.
        """
        self.state = replace(self.state, outside=_names(paths))

    def keep(self, task: str, attempt: int) -> str:
        """Keep what the last attempt of the task left, as observed, in a ref; gives its name, "" for no change.

        The work tree stays as it is. Also for an attempt that was interrupted or does not count.
        """
        self.state = replace(self.state, task="")
        kept_attempt = self.state.attempts.get(task)
        if self._trees is None or kept_attempt is None:
            return ""
        tree = self._trees.with_outside(kept_attempt.tree, _paths(self.state.outside))
        if tree == kept_attempt.base:
            return ""
        ref = attempt_ref(self._run, task, attempt)
        parent = self._keep_verified()
        if kept_attempt.base != self.state.verified:
            parent = self._commit_of(kept_attempt.base)
        self._trees.refs.keep(ref, tree, parent, f"samuel: attempt {attempt} of task {task}\n")
        attempts = {**self.state.attempts, task: replace(kept_attempt, ref=ref)}
        self.state = replace(self.state, attempts=attempts)
        return ref

    def put_away(self, task: str, attempt: int, changed: Iterable[str] | None = None) -> PutAway:
        """Keep what the attempt left in a ref, and make the work tree the verified tree again."""
        if self._trees is None or not self.state.verified:
            return PutAway()
        ref = self.keep(task, attempt)
        tree = self._trees.snapshot(changed)
        self._take_in(tree)
        persons = {path for path in self._trees.differing(self.state.start, tree) if self.is_persons(path)}
        restored, problems, tree = self._put(tree, self.state.verified)
        self.state = replace(self.state, task="", start=tree, left=tree)
        return PutAway(ref, restored, tuple(sorted(persons)), problems)

    def drop(self, task: str) -> tuple[str, ...]:
        """Make the work tree the verified tree again and keep nothing; gives why a path could not be written."""
        if self._trees is None or not self.state.verified:
            return ()
        tree = self._trees.snapshot(())
        self._take_in(tree)
        _, problems, tree = self._put(tree, self.state.verified)
        attempts = {id: last for id, last in self.state.attempts.items() if id != task}
        self.state = replace(self.state, task="", start=tree, left=tree, attempts=attempts)
        return problems

    def complete(self, task: str, changed: Iterable[str] | None = None, own: Iterable[str] = ()) -> str:
        """Make the work tree as it is the verified tree, after the commit of a completed task; gives the tree.

        `own` are paths that Samuel itself changed since: they are not a person's.
        """
        if self._trees is None or not self.state.verified:
            return ""
        tree = self._trees.snapshot(changed)
        if own := set(own):
            left = self._trees.combined(self.state.left, tree, own)
            owned = {*_paths(self.state.owned), *(path for path in own if not self.is_persons(path))}
            self.state = replace(self.state, left=left, owned=_names(owned))
        self._take_in(tree)
        attempts = {id: last for id, last in self.state.attempts.items() if id != task}
        self.state = replace(self.state, verified=tree, left=tree, start=tree, task="", attempts=attempts)
        self._keep_verified()
        return tree

    def _target(
        self,
        task: str,
        retry: Retry,
        is_protected: Callable[[str], bool],
        laid: Mapping[str, bytes | None],
    ) -> tuple[str, tuple[str, ...]]:
        assert self._trees is not None
        tree, last = self.state.verified, self.state.attempts.get(task)
        conflicts: tuple[str, ...] = ()
        if last is not None and retry != "fresh":
            try:
                tree, conflicts = self._continued(last, retry, is_protected)
            except GitFailed:
                if self._exist(last.tree, last.base):
                    raise  # else its agent removed the ref, and `git gc` the tree
        return self._trees.with_contents(tree, laid), conflicts

    def _continued(
        self, last: KeptAttempt, retry: Retry, is_protected: Callable[[str], bool]
    ) -> tuple[str, tuple[str, ...]]:
        """The verified tree with what an attempt left, and the paths that prevent this."""
        assert self._trees is not None
        verified = self.state.verified
        elsewhere = PathSet(self._trees.differing(last.base, verified))
        own = self._trees.differing(last.base, last.tree)
        if retry == "accepted" and (both := sorted(filter(elsewhere.touches, own))):
            try:
                tree, conflicts = self._trees.merged(last.base, verified, last.tree)
            except GitFailed:  # it is too old to merge trees
                tree, conflicts = "", tuple(both)
            return (verified, conflicts) if conflicts else (tree, ())
        if retry != "accepted":
            own -= set(_paths(last.put_back))
        paths = {path for path in own if not elsewhere.touches(path) and not is_protected(path)}
        return self._trees.combined(verified, last.tree, paths), ()

    def _take_in(self, tree: str, target: str = "") -> tuple[str, ...]:
        """Accept what changed since Samuel last looked: it is a person's, and part of the verified tree.

        What is as in the verified tree or in `target` is not: Samuel itself may have put it there before a kill.
        """
        assert self._trees is not None
        appeared = self._trees.differing(self.state.left, tree)
        for own in (self.state.verified, target):
            if appeared and own:
                appeared &= self._trees.differing(own, tree)
        if not appeared:
            return ()
        persons = appeared & self._dirty()  # what is committed meanwhile is safe there
        verified = self._trees.combined(self.state.verified, tree, appeared)
        person = _names({*_paths(self.state.person), *persons})
        self.state = replace(self.state, verified=verified, person=person, left=tree)
        if persons:
            self._keep_persons()
        return tuple(sorted(appeared))

    def _put(
        self, tree: str, target: str, accepted: Iterable[str] = ()
    ) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        """Write what differs, but for a person's paths that are not among the `accepted` ones."""
        assert self._trees is not None
        also = set(accepted)
        paths = {path for path in self._trees.differing(tree, target) if path in also or not self.is_persons(path)}
        if not paths:
            return (), (), tree
        problems = self._trees.put(target, paths)
        return tuple(sorted(paths)), tuple(problems), self._trees.snapshot(())

    def is_persons(self, path: str) -> bool:
        """Whether this path, one above or one below it has changes of a person, and so is never written."""
        if self._person[0] is not self.state.person:
            self._person = (self.state.person, PathSet(_paths(self.state.person)))
        return self._person[1].touches(path)

    def _dirty(self) -> set[str]:
        assert self._trees is not None
        entries = self._trees.git.status().entries
        return {entry.path for entry in entries if not entry.path.startswith(VOLATILE_DIRS)}

    def _exist(self, *trees: str) -> bool:
        assert self._trees is not None
        return all(trees) and self._trees.refs.exist(trees)

    def _keep_verified(self) -> str:
        """Keep the verified tree where `git gc` sees it; gives its commit."""
        assert self._trees is not None
        ref, verified = f"{verified_ref(self._run)}{self._lane}", self.state.verified
        return self._trees.refs.keep(ref, verified, message="samuel: the verified tree\n")

    @property
    def person_ref(self) -> str:
        """The ref with what a person had changed and not committed, before an agent could touch it."""
        return f"{person_ref(self._run)}{self._lane}"

    def _keep_persons(self) -> None:
        """Keep the work tree with a person's changes: `git checkout .` of an agent would be the end of them."""
        assert self._trees is not None
        if not self.state.person:
            return
        refs, last = self._trees.refs, self._trees.refs.find(self.person_ref)
        if last is None or last.tree != self.state.left:
            parent = last.commit if last else self._trees.git.head()
            refs.keep(self.person_ref, self.state.left, parent, "samuel: what was not committed\n")

    def _commit_of(self, tree: str) -> str:
        """A commit of an earlier verified tree."""
        assert self._trees is not None
        return self._trees.refs.commit(tree, "", "samuel: the verified tree\n")


def _names(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(map(saved_name, paths)))


def _paths(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(path_of, names))
