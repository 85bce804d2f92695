"""The run's state as several threads change it: each change is one write to run.json, under a lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.history.run import LaneRecord, LanesState, Run


class SharedRun:
    """The run with its lanes; `save` writes it to disk."""

    def __init__(self, run: Run, save: Callable[[Run], Run]) -> None:
        self._run = run
        self._save = save
        self._lock = threading.RLock()
        self._is_saved = True

    @property
    def run(self) -> Run:
        return self._run

    @property
    def lanes(self) -> LanesState:
        assert self._run.lanes is not UNSET
        return self._run.lanes

    def update(self, change: Callable[[Run], Run]) -> Run:
        with self._lock:
            self._run = self._save(change(self._run))
            self._is_saved = True
            return self._run

    def update_later(self, change: Callable[[Run], Run]) -> None:
        """A change that may be lost in a kill, since it is then found out again; the next save has it."""
        with self._lock:
            self._run = change(self._run)
            self._is_saved = False

    def flush(self) -> None:
        """Save what `update_later` changed, if nothing else was saved since."""
        with self._lock:
            if not self._is_saved:
                self.update(lambda run: run)

    def set_lanes(self, **fields: Any) -> Run:
        return self.update(lambda run: replace(run, lanes=replace(self.lanes, **fields)))

    def set_active(self, record: LaneRecord) -> Run:
        """Save what is known of a task under way."""
        with self._lock:
            return self.set_lanes(active={**self.lanes.active, record.task: record})

    def record(self, task: str) -> LaneRecord:
        return self.lanes.active[task]

    def change_active(self, task: str, **fields: Any) -> Run:
        with self._lock:
            return self.set_active(replace(self.lanes.active[task], **fields))
