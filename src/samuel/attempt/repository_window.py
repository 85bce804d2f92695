"""Letting an agent or a check work in the repository of a person, which is afterwards as it was before.

What they write into files is their work. The index, HEAD, branches and settings are put back, and what was done is
named: on the screen, and in the record of the attempt.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from samuel.attempt.workplace import Workplace
from samuel.base.printable import file_name
from samuel.git.git import Git, GitFailed
from samuel.git.repository_state import RepositoryNotes, SavedRepository
from samuel.git.tree_output import TreeEntry
from samuel.git.trees import Trees
from samuel.history.attempts import Attempts
from samuel.history.run import Run

MAX_NAMED = 5  # files in one note


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

    @contextmanager
    def open(self, run: Run, who: str, work: WorkTree) -> Iterator[None]:
        """Let `who` work in the repository, then put that back. Raises GitFailed if git cannot read it."""
        if not self._place.git.is_repository:
            yield
            return
        self._saved.save(run.run_id, run.iteration)
        try:
            yield
        finally:
            self._put_back(who, work)

    def resume(self, run: Run, work: WorkTree) -> None:
        """Put back what the program left that was at work when the run was killed, but nothing of a person's."""
        state = self._saved.load() if self._place.git.is_repository else None
        if state is None:
            return
        if state.run == run.run_id:
            self._put_back("what was at work when the run was killed", work, resumed=True)
        self._saved.forget()

    def take_notes(self) -> tuple[str, ...]:
        """What was done since the last call, for the record of the attempt."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def note(self, text: str) -> None:
        """Name something on the screen and in the record of the attempt."""
        self._place.warn(text)
        self._notes.append(text)

    def _put_back(self, who: str, work: WorkTree, *, resumed: bool = False) -> None:
        changes = self._saved.put_back(who, resumed=resumed)
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
        paths = {path for path in paths if not work.attempts.is_persons(path)}
        prefix = os.fsdecode(git.location().prefix)
        inside = (path.removeprefix(prefix) for path in changes.skipped if path.startswith(prefix))
        paths |= {path for path in inside if not os.path.lexists(git.root / path)}
        paths &= trees.differing(start, tree)
        if not paths:
            return
        for problem in trees.put(start, paths):
            self.note(problem)
        more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
        named = ", ".join(f"`{file_name(path)}`" for path in sorted(paths)[:MAX_NAMED])
        self.note(f"files that git changed with it are as before: {named}{more}")


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
