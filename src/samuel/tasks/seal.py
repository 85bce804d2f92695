"""A copy of the tasks from when an agent or a check began, where a sandboxed process cannot write.

While an agent or a check works, the copy (the seal) lies in the user's state directory. Changes by people go into
both. When the work is over, or when a killed run is resumed, the task file is rebuilt from the seal and from the
changes that the agent is allowed to make.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.process import procfs
from samuel.tasks.rebuild import AllowedChanges, Rebuilt, rebuild
from samuel.tasks.task import Task

FILE = "tasks.json"
COPY = "prd.toon"
DISCOVERY = "discovery"
ACCEPTANCE = "acceptance"
"""The mode in which an agent writes tests for a task before the work on it starts."""
SealedStep = Literal["agent", "check", "commit"]


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    iteration: int
    step: SealedStep
    """What is at work. An agent may change its own task; a check or a commit may change nothing."""
    own: tuple[str, ...] = ()
    mode: str = "implementation"
    max_new_tasks: int | None = None  # for one discovery
    pid: int = 0  # of the loop
    born: int = 0
    tasks: tuple[Task, ...] = ()
    put_back: tuple[str, ...] = ()  # changes undone by an earlier rebuild that are not reported yet

    @property
    def allowed_changes(self) -> AllowedChanges:
        if self.step != "agent":
            return AllowedChanges()
        discovers = self.mode == DISCOVERY
        return AllowedChanges(
            own=self.own,
            adds=self.mode != ACCEPTANCE,
            max_new_tasks=self.max_new_tasks if discovers else None,
            source=DISCOVERY if discovers else "agent",
            iteration=self.iteration,
        )

    @property
    def alive(self) -> bool:
        """Whether the loop that made it still runs."""
        return self.pid == os.getpid() or (self.born != 0 and procfs.born(self.pid) == self.born)

    @property
    def is_above(self) -> bool:
        """Whether this process descends from the loop, at any depth, even if it dropped the run's variables."""
        return self.alive and self.pid in procfs.ancestors()

    def around(self, tasks: Iterable[Task]) -> Seal:
        """With these tasks, held by this process."""
        return replace(self, tasks=tuple(tasks), pid=os.getpid(), born=procfs.born(os.getpid()))

    def rebuild(self, tasks: Iterable[Task]) -> Rebuilt:
        rebuilt = rebuild(self.tasks, tuple(tasks), self.allowed_changes)
        return rebuilt._replace(put_back=(*self.put_back, *rebuilt.put_back))

    def with_change(self, rebuilt: Rebuilt, changed: Iterable[Task]) -> Seal:
        """This seal with a trusted change to the rebuilt tasks."""
        before = {task.id: task for task in rebuilt.tasks}
        news = {task.id: task for task in changed if before.get(task.id) != task}
        tasks = [news.pop(task.id, task) for task in self.tasks]
        return replace(self, tasks=(*tasks, *news.values()), put_back=rebuilt.put_back)


class SealFile:
    """The seal of one state directory. What this process sealed itself holds also if nothing could be written."""

    def __init__(self, directory: Path | None, *, disk: atomic.Disk = atomic.DISK) -> None:
        self._directory = directory
        self._disk = disk
        self._own: Seal | None = None

    def load(self) -> Seal | None:
        stored = self._read()
        if self._own is None or (stored is not None and _same(stored, self._own)):
            return stored
        return self._own

    def save(self, seal: Seal) -> None:
        """Durable: a seal that came back after a power cut would undo what was done since."""
        if self._directory is not None:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_bytes(self._directory / FILE, msgspec.json.encode(seal), 0o600, disk=self._disk)
        self._own = seal

    def hold(self, seal: Seal) -> None:
        """Only in this process, where nothing can be written."""
        self._own = seal

    def keep_copy(self, text: str) -> None:
        """Keep the task file as a `samuel` wrote it: `git clean -x` of an agent would be the end of a claim.

        It counts no more than the file itself, which an agent may write, too. Where it cannot be written, as in a
        sandbox, the file as it was sealed has to do.
        """
        if self._directory is not None:
            with suppress(OSError):
                atomic.write_text(self._directory / COPY, text, disk=self._disk, durable=False)

    def copy(self) -> bytes | None:
        """What `keep_copy` kept; None for nothing."""
        try:
            return read_regular(self._directory / COPY) if self._directory is not None else None
        except OSError:
            return None

    def clear(self) -> None:
        if self._directory is not None and self._read() is not None:
            atomic.write_bytes(self._directory / FILE, b"null", 0o600, disk=self._disk)
        self._own = None

    def _read(self) -> Seal | None:
        if self._directory is None:
            return None
        try:
            return decode_json(read_regular(self._directory / FILE), Seal | None)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return None


def _same(seal: Seal, other: Seal) -> bool:
    return (seal.run_id, seal.iteration, seal.step) == (other.run_id, other.iteration, other.step)
