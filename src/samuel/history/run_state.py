"""The state of a run, and the one place that changes it: each change is one write to run.json, under a lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.history.run import AttemptUnderWay, LanesState, Run


class RunState:
    """The run as its coordinator and the threads of attempts have it; `save` writes it to disk."""

    def __init__(self, save: Callable[[Run], Run], run: Run | None = None) -> None:
        self._run = run
        self._save = save
        self._lock = threading.RLock()
        self._is_saved = True

    @property
    def run(self) -> Run:
        assert self._run is not None, "no run has begun"
        return self._run

    @property
    def lanes(self) -> LanesState:
        assert self.run.lanes is not UNSET
        return self.run.lanes

    def load(self, run: Run) -> None:
        """Take a run that is on the disk."""
        self._run = run

    def begin(self, run: Run) -> Run:
        """Save the run that begins or goes on."""
        with self._lock:
            self._run = self._save(run)
            self._is_saved = True
            return run

    def change(self, change: Callable[[Run], Run]) -> Run:
        with self._lock:
            return self.begin(change(self.run))

    def change_later(self, change: Callable[[Run], Run]) -> None:
        """A change that may be lost in a kill, since it is then found out again; the next save has it."""
        with self._lock:
            self._run = change(self.run)
            self._is_saved = False

    def flush(self) -> None:
        """Save what `change_later` changed, if nothing else was saved since."""
        with self._lock:
            if not self._is_saved:
                self.begin(self.run)

    def set(self, **fields: Any) -> Run:
        return self.change(lambda run: replace(run, **fields))

    def set_lanes(self, **fields: Any) -> Run:
        return self.change(lambda run: replace(run, lanes=replace(self.lanes, **fields)))

    def set_attempt(self, task: str, **fields: Any) -> AttemptUnderWay:
        """Save what is known of a task under way."""
        with self._lock:
            record = replace(self.run.active[task], **fields)
            self.change(lambda run: replace(run, active={**run.active, task: record}))
            return record
