"""The tasks on disk: read at any time, changed by one process at a time, replaced whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from samuel.errors import ConfigError, Problem, SamuelError
from samuel.files import atomic
from samuel.files.inside import read_inside
from samuel.files.lock import held
from samuel.tasks import graph, prd_file
from samuel.tasks.prd_file import Document
from samuel.tasks.task import Task

LIMIT = 256 * 1024 * 1024
WAIT = 60.0  # a change takes milliseconds, so this is a queue of very many, or somebody who hangs


class TaskStore:
    """The `prd.toon` of one directory, and the lock beside it."""

    def __init__(self, directory: Path, *, disk: atomic.Disk = atomic.DISK) -> None:
        self.directory = directory
        self.path = directory / prd_file.NAME
        self._lock = directory / "state.lock"
        self._disk = disk

    def load(self) -> tuple[Task, ...]:
        """The tasks as they are now. It needs no lock: the file is whole at every moment."""
        return self._read().tasks

    def change(self, function: Callable[[tuple[Task, ...]], Iterable[Task]]) -> tuple[Task, ...]:
        """Replace the tasks by what `function` makes of them, with nobody else in between; gives the new ones.

        If it raises, or what it gives does not fit together, the file stays as it is.
        """
        if not self.path.exists():
            raise self._missing()  # before a lock file is made for nothing
        with held(self._lock, wait=WAIT, note="changing a task"):
            old = self._read()
            tasks = tuple(function(old.tasks))
            if tasks != old.tasks:
                self._write(tasks, old)
        return tasks

    def replace_all(self, tasks: Iterable[Task]) -> None:
        """Begin anew with these tasks, whatever was there."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with held(self._lock, wait=WAIT, note="writing the tasks"):
            self._write(tuple(tasks), prd_file.EMPTY)

    def _read(self) -> Document:
        try:
            data = read_inside(self.directory, prd_file.NAME, limit=LIMIT)
        except FileNotFoundError:
            raise self._missing() from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ConfigError([Problem("this is not UTF-8", str(self.path), line, "save it as UTF-8")]) from None
        return prd_file.decode(text, str(self.path))

    def _write(self, tasks: tuple[Task, ...], old: Document) -> None:
        if problems := graph.problems(tasks, str(self.path)):
            raise ConfigError(problems)
        atomic.write_text(self.path, prd_file.encode(tasks, old), disk=self._disk)

    def _missing(self) -> SamuelError:
        return SamuelError(
            f"there are no tasks yet: `{self.path}` does not exist",
            "`samuel run init --prd FILE` makes them from a PRD",
        )
