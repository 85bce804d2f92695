"""Letting an agent or a check work in the repository of a person, which is afterwards as it was before.

What they write into files is their work. The index, HEAD, branches and settings are put back, and what was done is
named: on the screen, and in the record of the attempt.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from samuel.attempt.workplace import Workplace
from samuel.base.printable import file_name, listed
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import COMMITS, agent_ref
from samuel.git.output import TreeEntry
from samuel.git.ref_state import take_back
from samuel.git.repository_state import BEAT, RepositoryNotes, SavedRepository
from samuel.git.trees import Trees
from samuel.history.attempts import Attempts
from samuel.history.run import Run

MAX_NAMED = 5  # files or commits in one note
KILLED = "what was at work when the run was killed"


class WorkTree(NamedTuple):
    """The files of the work tree, and what the attempt under way began with."""

    trees: Trees | None
    attempts: Attempts


class RepositoryWindow:
    """The repository of one work tree, in a run."""

    def __init__(self, place: Workplace, directory: Path) -> None:
        """`directory` is Samuel's own. In a lane, other agents and the person use the same refs and settings."""
        self._place = place
        self._saved = SavedRepository(place.git, directory / "repository", shared=place.lane is None)
        self._notes: list[str] = []
        self._head: str | None = None  # what the attempt under way began with
        self._staged: set[str] = set()  # by a person, and committed by the agent of this attempt

    @contextmanager
    def open(self, run: Run, who: str, work: WorkTree) -> Iterator[None]:
        """Let `who` work in the repository, then put that back. Raises GitFailed if git cannot read it."""
        if not self._place.git.is_repository:
            yield
            return
        workers = self._place.at_work(who)
        self._saved.save(run.run_id, run.iteration)
        try:
            with self._signs_of_life():
                yield
        finally:
            self._put_back(str(workers), work)

    @contextmanager
    def _signs_of_life(self) -> Iterator[None]:
        """Write down again and again that the run is alive: what is changed after a kill is a person's."""
        ended = threading.Event()

        def observe() -> None:
            while not ended.wait(BEAT):
                self._saved.observe()

        thread = threading.Thread(target=observe, name="signs of life", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def resume(self, run: Run, work: WorkTree) -> None:
        """Put back what the program left that was at work when the run was killed, but nothing of a person's."""
        state = self._saved.load() if self._place.git.is_repository else None
        if state is None:
            return
        if state.run == run.run_id:
            self._put_back(KILLED, work, last_alive=self._saved.last_alive)
        self._saved.forget()

    def take_notes(self) -> tuple[str, ...]:
        """What was done since the last call, for the record of the attempt."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def begin_attempt(self, head: str | None) -> None:
        """From now on, commits are those of an attempt that began with the commit `head`; None without git."""
        self._head, self._staged = head, set()

    def end_attempt(self, run: Run, *, is_completed: bool) -> None:
        """Put the branch back to where the attempt began unless its task is completed, and name its commits.

        A ref keeps them; no file is written.
        """
        before, staged = self._head, self._staged
        self.begin_attempt(None)
        if is_completed or before is None:
            return
        try:
            taken = take_back(self._place.git, before, agent_ref(run.run_id, run.iteration, COMMITS), staged)
        except GitFailed as error:
            self.note(f"commits of the agent stay on the branch: {error.message}")
            return
        if taken.commits:
            more = f" and {len(taken.commits) - MAX_NAMED} more" if len(taken.commits) > MAX_NAMED else ""
            named = "; ".join(taken.commits[:MAX_NAMED]) + more
            self.note(
                f"commits of this attempt are not on {taken.place} any more, because its task is not completed: "
                f"{named}; `{taken.ref}` has them"
            )

    def note(self, text: str) -> None:
        """Name something on the screen and in the record of the attempt."""
        self._place.warn(text)
        self._notes.append(text)

    def _put_back(self, who: str, work: WorkTree, *, last_alive: float | None = None) -> None:
        changes = self._saved.put_back(who, last_alive=last_alive)
        self._staged |= set(changes.staged)
        if changes.since:
            work.attempts.leave_to_person(self._below_root(changes.since))
        for note in changes.notes:
            self.note(note)
        if changes.left or changes.skipped:
            try:
                self._put_back_files(changes, work)
            except GitFailed as error:
                self.note(f"files that git changed on the way may not be as before: {error.message}")

    def _put_back_files(self, changes: RepositoryNotes, work: WorkTree) -> None:
        """Put back the files that git itself wrote or removed when HEAD or a branch was moved."""
        trees, start, state = work.trees, work.attempts.state.start, self._saved.state
        if trees is None or not start or state is None:
            return
        git = self._place.git
        tree, paths = trees.snapshot(), set[str]()
        origin = _origin(git, changes.left, [state.commit, *state.refs.values()]) if state.commit else ""
        if origin:
            paths = _as_in(trees, origin, tree, trees.differing(origin, trees.refs.tree_of(state.commit)))
        if changes.left and changes.merged and trees.refs.tree_of(changes.merged):
            paths |= _as_in(trees, changes.merged, tree, trees.differing(start, tree))
        paths = {path for path in paths if not work.attempts.is_persons(path)}
        paths |= {path for path in self._below_root(changes.skipped) if not os.path.lexists(git.root / path)}
        paths &= trees.differing(start, tree)
        if not paths:
            return
        for problem in trees.put(start, paths):
            self.note(problem)
        named = listed([f"`{file_name(path)}`" for path in sorted(paths)], MAX_NAMED)
        self.note(f"files that git changed with it are as before: {named}")

    def _below_root(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths from the top of the work tree that are in the project, from its root."""
        prefix = os.fsdecode(self._place.git.location().prefix)
        return [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]


def _origin(git: Git, commit: str, before: Iterable[str]) -> str:
    """The tree of the newest commit at or below `commit` that existed before; "" if there is none."""
    if not commit:
        return ""
    lines = "".join(f"{line}\n" for line in (commit, *(f"^{name}" for name in dict.fromkeys(before))))
    names = (
        git.call(["rev-list", "--boundary", "--ignore-missing", "--stdin"], stdin=lines.encode()).decode().split()
    )
    boundary = [name[1:] for name in names if name.startswith("-")]
    origin = commit if not names else next(iter(boundary), "")
    return git.run("rev-parse", f"{origin}^{{tree}}").decode().strip() if origin else ""


def _as_in(trees: Trees, tree: str, other: str, paths: Iterable[str]) -> set[str]:
    """Those of the paths that are the same in both trees."""
    names = list(paths)
    first, second = trees.entries(tree, names), trees.entries(other, names)
    return {name for name in names if _content(first.get(name)) == _content(second.get(name))}


def _content(entry: TreeEntry | None) -> tuple[str, str] | None:
    return (entry.mode, entry.object) if entry else None
