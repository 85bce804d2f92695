"""Sealing the tasks of a project's other methodologies: an agent of this run can write them, but may not.

They are sealed while an agent or a check of this run works. A methodology with a run of its own in progress is
left to that run; a run that starts meanwhile closes the seal that it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from samuel.attempt.workplace import Workplace
from samuel.base.errors import Locked, SamuelError
from samuel.base.paths import HOME, record_name
from samuel.files.lock import held
from samuel.history.state_files import DIRECTORIES, misplaced, put_right
from samuel.tasks import prd_file
from samuel.tasks.rebuild import Rebuilt
from samuel.tasks.seal import Seal
from samuel.tasks.store import TaskStore

T = TypeVar("T")


class _Other(NamedTuple):
    store: TaskStore
    record: Path
    misplaced: set[Path]  # before an agent or a check started


class OtherTasks:
    def __init__(self, place: Workplace, seal: Seal) -> None:
        self._place = place
        self._seal = replace(seal, step="check", own=())
        self._others = list(self._find())

    def open_seals(self) -> None:
        for other in self._others:
            _if_idle(other, self._open)

    def close_seals(self) -> Iterator[tuple[str, Rebuilt]]:
        """The rebuilt tasks of each methodology that was sealed, by its name."""
        for other in self._others:
            if rebuilt := _if_idle(other, self._close):
                yield other.store.directory.name, rebuilt

    def _find(self) -> Iterator[_Other]:
        """The other methodologies that have tasks; none if there is no directory for a seal."""
        shared = self._place.root / HOME / "run"
        if self._place.record is None or not shared.is_dir():
            return
        for state in sorted(shared.iterdir()):
            tasks = state / prd_file.NAME
            if state != self._place.state and state.name not in DIRECTORIES and tasks.is_file():
                # The name of a record is derived from the resolved directory, so a link in its place has another.
                record = self._place.record.parent / record_name(state)
                store = TaskStore(state, record, disk=self._place.disk)
                yield _Other(store, record, misplaced(self._place.root, state))

    def _open(self, other: _Other) -> None:
        if (left := other.store.seal) is not None and left.run_id == self._seal.run_id:
            other.store.close_seal()  # of this run, before it was killed
        if other.store.seal is None:
            with suppress(SamuelError):  # a task file that cannot be read has nothing to lose
                other.store.open_seal(self._seal)

    def _close(self, other: _Other) -> Rebuilt | None:
        problems = put_right(self._place.root, other.store.directory, other.misplaced)
        stored = TaskStore(other.store.directory, other.record, disk=self._place.disk)
        if stored.seal is None or stored.seal.run_id != self._seal.run_id:
            return None  # a run of its own began meanwhile
        rebuilt = stored.close_seal()
        return rebuilt._replace(put_back=(*problems, *rebuilt.put_back)) if rebuilt else None


def _if_idle(other: _Other, act: Callable[[_Other], T]) -> T | None:
    with suppress(OSError, Locked):
        other.record.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(other.record / "run.lock", note="sealing the tasks of other methodologies"):
            return act(other)
    return None
