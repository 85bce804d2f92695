"""The work tree of one attempt: what it begins with, and what its agent changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from samuel.attempt.file_notes import OutsideFiles, file_notes
from samuel.attempt.run_files import RunFiles
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectState
from samuel.base.paths import VOLATILE_DIRS
from samuel.base.printable import file_name, listed, shell_word
from samuel.checks.files import CheckFiles, ProtectedFiles, owned
from samuel.evidence.conventions import is_test_file
from samuel.files.survey import Signature, signature_if_exists
from samuel.history.attempt_record import ChangedFile
from samuel.history.attempts import (
    ACCEPTANCE,
    DISCOVERY,
    NOTHING_LAID,
    AttemptChanges,
    Retry,
    is_never_protected,
)
from samuel.history.tree_state import TreeState
from samuel.tasks.task import Task

MAX_NAMED = 10  # in one warning
CONFLICT = (
    "the accepted work conflicts with what was completed since, so the task has to be done again; in conflict"
)


class LastChanges(NamedTuple):
    """What an attempt changed that is not in the work tree any more."""

    files: tuple[str, ...]
    patch: bytes


class AttemptTree:
    def __init__(
        self,
        place: Workplace,
        files: RunFiles,
        task: Task | None,
        commands: Sequence[str],
        name: str = DISCOVERY,
        laid: Mapping[str, bytes | None] = NOTHING_LAID,
        *,
        is_restart: bool = False,
    ) -> None:
        """`task` is None for an attempt that works on none, which is called `name`. `commands` are its checks.

        `laid` are files that it begins with, whatever the last attempt left: locked tests. `is_restart`: it goes
        on with the work of the last one, which a person ended.
        """
        self._is_restart = is_restart
        self._name = task.id if task else name
        self._laid = laid
        self._place = place
        self._files = files
        self._task = task
        self._commands = commands
        self.changes: AttemptChanges | None = None  # None until the agent has ended
        self.conflict = ""
        """Why the work that a person accepted could not be laid down."""
        self._is_observed = False
        self._earlier: dict[str, Signature] = {}  # the files of earlier attempts, when this one began
        self._outside = OutsideFiles(place.git, place.record) if place.git.is_repository else None

    @property
    def state(self) -> TreeState:
        return self._files.attempts.state

    def start(self, *, accepted: bool = False) -> bool:
        """Make the work tree what the attempt begins with; whether a file was written for that.

        `accepted`: a person took all that the last attempt left.
        """
        retry: Retry = "accepted" if accepted else "fresh" if self._is_fresh else "continue"
        is_protected = is_never_protected if accepted else self._is_protected
        start = self._files.attempts.start(self._name, retry, is_protected, self._laid)
        for problem in start.problems:
            self._place.warn(problem)
        if start.conflicts:
            named = listed([f"`{file_name(path)}`" for path in start.conflicts], MAX_NAMED)
            self.conflict = f"{CONFLICT}: {named}"
        if self._outside is not None:
            self._outside.begin()
        if (trees := self._files.trees) is not None and start.tree != self.state.verified:
            earlier = trees.differing(self.state.verified, start.tree)
            self._earlier = {path: self._signature(path) for path in earlier}
        return bool(start.restored)

    @property
    def _is_fresh(self) -> bool:
        """Whether it begins with the verified tree; what a person refused is no start for the next attempt."""
        if self._task is None:
            return self._name == ACCEPTANCE or self._place.settings.retry == "fresh"
        if self._is_restart:
            return False
        return self._place.settings.retry == "fresh" or self._task.is_refused

    def _signature(self, path: str) -> Signature:
        return signature_if_exists(self._place.root / path)

    def last_changes(self) -> LastChanges | None:
        """What the last attempt changed, if this one starts without it; None if it goes on with it."""
        trees = self._files.trees
        last = self.state.attempts.get(self._name)
        if trees is None or last is None or not self._is_fresh:
            return None
        files = sorted(map(file_name, trees.differing(last.base, last.tree)))
        return LastChanges(tuple(files), trees.diff(last.base, last.tree)) if files else None

    def changed(self, before: ProjectState) -> list[str]:
        """The names of the files that the agent changed up to now; `before` tells where there is no git.

        A file of an earlier attempt counts if it was written again. Raises RepositoryLost.
        """
        project, trees = self._files.project, self._files.trees
        if trees is None or self._files.attempts.unavailable:
            return project.changed(before)
        self.changes = project.in_repository(self._files.attempts.observe)
        again = {path for path, old in self._earlier.items() if self._signature(path) != old}
        paths = {*self.changes.paths, *again.intersection(change.path for change in self.changes.changes)}
        return [file_name(path) for path in sorted(paths) if not path.startswith(VOLATILE_DIRS)]

    def observe(self) -> None:
        """Look at what the agent changed, unless `changed` has, and say what of it is a person's."""
        if self._is_observed:
            return
        self._is_observed = True
        if self.changes is None:
            self.changes = self._files.attempts.observe()
        if self._place.lane is not None:
            self._take_back_marks(self.changes)
        if self.changes.person:
            named = ", ".join(f"`{file_name(path)}`" for path in self.changes.person[:MAX_NAMED])
            left = "is left as it is, without a commit" if self._place.settings.commit else "is left as it is"
            before = (
                f"`git restore --source={shell_word(self._files.attempts.person_ref)} -- PATH` gives yours back"
            )
            self._files.repository.note(
                f"the agent changed what you had changed before the run; that {left}: {named}; {before}"
            )
        self._note_files()
        self._note_environment()

    def _note_environment(self) -> None:
        """Name what the agent changed of what checks run and git does not have."""
        room = self._files.room
        if room is not None and (changed := room.changed_environment()):
            named = listed([f"`{file_name(path)}`" for path in changed], MAX_NAMED)
            self._files.repository.note(
                f"the agent changed the environment of the project, which the checks do not use: {named}"
            )

    def _note_files(self) -> None:
        """Say what a person has to know about the files of the attempt."""
        assert self.changes is not None
        outside = self._outside.changed() if self._outside is not None else []
        self._files.attempts.note_outside(outside)
        changed, trees = self.changes.paths, self._files.trees
        not_kept = {path: trees.not_kept[path] for path in changed if path in trees.not_kept} if trees else {}
        commit = self._place.settings.commit
        for note in file_notes(self._place.root, changed, not_kept, outside, commit=commit):
            self._files.repository.note(note)

    def _take_back_marks(self, changes: AttemptChanges) -> None:
        """Take back the boxes that the agent ticked in the source of the tasks.

        Agents in several lanes tick boxes in lines beside each other, and git could not merge that.
        """
        trees, verified = self._files.trees, self.state.verified
        paths = [change.path for change in changes.changes]
        marked = SourceMarks(self._place).only_marked(paths, trees, verified)
        if trees is not None and marked:
            for problem in trees.put(verified, marked):
                self._place.warn(problem)
            self.changes = self._files.attempts.observe(())

    def lay(self, contents: Mapping[str, bytes | None]) -> list[str]:
        """Make these files of the attempt what they must be, whatever its agent did; gives those that are not.

        What a person has there is never written.
        """
        trees, attempts = self._files.trees, self._files.attempts
        if trees is None or self.changes is None or not self.changes.tree:
            return []
        target = trees.with_contents(self.changes.tree, contents)
        differing = trees.differing(self.changes.tree, target)
        if not differing:
            return []
        for problem in trees.put(target, [path for path in differing if not attempts.is_persons(path)]):
            self._place.warn(problem)
        self.changes = attempts.observe()
        return sorted(trees.differing(self.changes.tree, target) & differing)

    def observe_checks(self, by_checks: Mapping[str, bytes | None]) -> tuple[str, ...]:
        """Take what the checks wrote as the attempt's: a formatter among them, or a file that is not ignored.

        `by_checks` are files that they changed in a clean room. Gives the files that the checks took back, with
        `git stash` for example, if these are all that the attempt had changed. They are written again.
        """
        trees, attempts = self._files.trees, self._files.attempts
        paths = [change.path for change in self.changes.changes] if self.changes else []
        if trees is not None and self.changes is not None and by_checks:
            for problem in trees.put(trees.with_contents(self.changes.tree, by_checks), by_checks):
                self._place.warn(problem)
        taken_back = False
        if trees is not None and self.changes is not None and paths and not self.state.put_back:
            taken_back = trees.differing(self.state.verified, trees.snapshot()).isdisjoint(paths)
            for problem in trees.put(self.changes.tree, paths) if taken_back else ():
                self._place.warn(problem)
        attempts.observe(paths if taken_back else None)
        return tuple(map(file_name, paths)) if taken_back else ()

    @property
    def changed_files(self) -> tuple[ChangedFile, ...]:
        """What differs from the verified tree, for the record."""
        return tuple(
            ChangedFile(path=file_name(change.path), added=change.added, removed=change.removed)
            for change in (self.changes.changes if self.changes else ())
        )

    def has_changes(self, changed: Sequence[str]) -> bool:
        """Whether this attempt, or an earlier one at the same task, changed a file.

        A box that the agent ticked in the source of the tasks is no change.
        """
        marks, trees, verified = SourceMarks(self._place), self._files.trees, self.state.verified
        if self.changes is not None and self.changes.tree:
            paths = {*(change.path for change in self.changes.changes), *self.changes.paths}
            paths -= self._laid.keys()
            return bool(paths - marks.only_marked(paths, trees, verified))
        paths = set(changed) - marks.only_marked(changed, None, "")
        return bool(paths) or (self._task is not None and self._task.attempts > 0)

    def _is_protected(self, path: str) -> bool:
        """Whether a retry begins with this file as it is in the verified tree, and not as it was left.

        Settings of the checks do. Tests do not: a person may have to decide about them.
        """
        if self._task is None or path not in self._verified_names or owned(self._task, (path,)):
            return False
        settings = self._place.settings
        protected = ProtectedFiles(settings.protect, settings.protect_existing)
        if protected.of((path,), self._verified_names.__contains__):
            return True
        return bool(self._check_files.touched((path,))) and not is_test_file(path)

    @cached_property
    def _verified_names(self) -> frozenset[str]:
        trees = self._files.trees
        return frozenset(trees.paths(self.state.verified)) if trees else frozenset()

    @cached_property
    def _check_files(self) -> CheckFiles:
        return CheckFiles.of(self._commands, sorted(self._verified_names), self._verified_text)

    def _verified_text(self, path: str) -> str:
        trees = self._files.trees
        content = trees.content(self.state.verified, path) if trees else None
        return (content or b"").decode("utf-8", "replace")
