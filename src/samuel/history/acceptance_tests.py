"""The acceptance tests of tasks: written by an agent before the work, locked, and kept until a task is completed.

They are in the user's state directory, where a sandboxed agent cannot write, and not in the project: a worker that
is to see half of them must not find the others there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.events.loop import CheckRun
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.regular import read_regular
from samuel.history.attempt_record import CheckRecord
from samuel.tasks.task import Task

FILE = "acceptance.json"


class LockedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with acceptance tests. The project did not have it before."""

    path: str
    content: bytes
    visible: bytes | None
    """What the worker sees of it: all, or not the hidden tests; None for nothing."""


class AcceptanceTests(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for the acceptance tests of one task."""

    text: str
    """The digest of what the task says: tests for other words are no tests for it."""
    author: str = ""
    """The agent that wrote them."""
    tries: int = 0
    why: str = ""
    """Why what the last try wrote was dropped; "" if it was locked."""
    files: tuple[LockedFile, ...] = ()
    names: tuple[str, ...] = ()
    """The tests in them, or the check commands where the tests are not known."""
    hidden: int = 0
    """How many test functions the worker does not see."""
    verified: str = ""
    """The tree on which they failed."""
    red: tuple[CheckRun, ...] = ()
    """How they failed there: of each check that failed, these tests alone."""
    before: tuple[CheckRecord, ...] = ()
    """The same runs as they are recorded, with all of their tests."""

    @property
    def is_locked(self) -> bool:
        return bool(self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    @property
    def contents(self) -> dict[str, bytes | None]:
        return {file.path: file.content for file in self.files}

    @property
    def visible(self) -> dict[str, bytes | None]:
        """What the worker sees, by path; None for a file that it does not."""
        return {file.path: file.visible for file in self.files}


def text_digest(task: Task) -> str:
    """The digest of what a task says."""
    parts = (task.title, task.description, *task.acceptance, "", task.test_strategy)
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


class AcceptanceMemory:
    """The acceptance tests of the tasks that are not completed, by id."""

    def __init__(self, directory: Path | None, disk: Disk = DISK) -> None:
        """Without a directory, only this process remembers."""
        self._file = directory / FILE if directory else None
        self._disk = disk
        self._tests = self._load()

    @classmethod
    def of(cls, tests: Mapping[str, AcceptanceTests]) -> AcceptanceMemory:
        """What an attempt in a lane or on a machine was given."""
        memory = cls(None)
        memory._tests = dict(tests)
        return memory

    def get(self, task_id: str) -> AcceptanceTests | None:
        return self._tests.get(task_id)

    def set(self, task_id: str, tests: AcceptanceTests) -> None:
        if self._tests.get(task_id) != tests:
            self._save({**self._tests, task_id: tests})

    def forget(self, task_id: str) -> None:
        if task_id in self._tests:
            self._save({id: tests for id, tests in self._tests.items() if id != task_id})

    def _load(self) -> dict[str, AcceptanceTests]:
        if self._file is None:
            return {}
        try:
            return decode_json(read_regular(self._file), dict[str, AcceptanceTests])
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return {}

    def _save(self, tests: dict[str, AcceptanceTests]) -> None:
        self._tests = tests
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_bytes(self._file, msgspec.json.encode(tests), 0o600, durable=False, disk=self._disk)
        except OSError:  # a home that is read-only: this process remembers, the next one asks again
            return
