"""Marks of landed tasks in the work tree of the person, while it follows the branch.

They are not committed: in the commit that lands, a mark would make another tree than the one the checks passed on.
So the file is changed while the work tree follows, and it must stay certain that marks are all that changed: a
source is marked when a task lands only if each byte of it is that of the commit, or of a mark. Any other source
(a status file beside the tasks, line ends that git converts) is marked at the end of the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.git import worktrees
from samuel.git.git import GitFailed
from samuel.tasks.origin import TaskOrigin
from samuel.tasks.write_back import newly_marked, with_tasks_marked


class _Source(NamedTuple):
    path: str  # below the root
    origin: TaskOrigin
    content: bytes


class PersonMarks:
    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._git = place.git
        self._prefix = place.git.location().prefix
        self._marks = SourceMarks(place)

    def paths(self, commit: str) -> set[str]:
        """The files that differ from the commit in marks of completed tasks, and in nothing else."""
        differing = [source for source in self._sources() if self._content(commit, source.path) != source.content]
        completed = self._completed() if differing else set()
        return {source.path for source in differing if self._is_marked(source, commit, completed)}

    def write(self, tasks: Collection[str], commit: str) -> None:
        """Mark tasks that landed with this commit, which the work tree has followed to."""
        completed = {*self._completed(), *tasks}
        certain = set(tasks)
        for source in self._sources():
            own = certain & source.origin.items.keys()
            try:
                content = with_tasks_marked(source.origin, self._place.root / source.path, source.content, own)
            except SamuelError:  # it can no longer be read as tasks
                certain -= own
                continue
            tracked = self._content(commit, source.path) is not None
            if tracked and not self._is_marked(source._replace(content=content), commit, completed):
                certain -= own
        for path, origin in self._marks.origins():
            if path and not self._is_one_file(path, origin):
                certain -= origin.items.keys()
        if certain:
            self._marks.write(*sorted(certain))

    def carry_over(self, old: str, new: str) -> None:
        """Let the marked files have the content of `new` with the marks that they have over `old`. Idempotent.

        Git would not overwrite them when the work tree follows.
        """
        for source in self._sources():
            before, after = self._content(old, source.path), self._content(new, source.path)
            if before is None or after is None or source.content in (before, after) or before == after:
                continue
            file = self._place.root / source.path
            if ids := newly_marked(source.origin, file, before, source.content):
                content = with_tasks_marked(source.origin, file, after, ids)
                atomic.write_bytes(file, content, disk=self._place.disk)
            elif newly_marked(source.origin, file, after, source.content) is None:
                continue  # the person's own change
            entry = self._git.run("ls-tree", "-z", "--full-tree", new, "--", self._name(source.path))
            worktrees.write(self._git, "update-index", "-z", "--index-info", stdin=entry)

    def _sources(self) -> Iterator[_Source]:
        """The sources in the project that are a file of their own."""
        for path, origin in self._marks.origins():
            if path and self._is_one_file(path, origin):
                try:
                    yield _Source(path, origin, read_regular(self._place.root / path))
                except OSError:  # it is gone, or a pipe
                    continue

    def _is_one_file(self, path: str, origin: TaskOrigin) -> bool:
        file, root = origin.file(self._place.root), self._place.root
        return len(origin.files) == 1 and file.resolve() == (root / path).resolve()

    def _is_marked(self, source: _Source, commit: str, completed: Collection[str]) -> bool:
        before = self._content(commit, source.path)
        if before is None:
            return False
        ids = newly_marked(source.origin, self._place.root / source.path, before, source.content)
        return ids is not None and ids <= set(completed)

    def _content(self, commit: str, path: str) -> bytes | None:
        try:
            return self._git.run("cat-file", "blob", f"{commit}:{self._name(path)}")
        except GitFailed:
            return None

    def _name(self, path: str) -> str:
        """The path as git knows it."""
        return self._prefix.decode("utf-8", "surrogateescape") + path

    def _completed(self) -> set[str]:
        with suppress(SamuelError):  # while the task file cannot be read, no mark is known to be earned
            return {task.id for task in self._place.tasks.load() if task.status == "completed"}
        return set()
