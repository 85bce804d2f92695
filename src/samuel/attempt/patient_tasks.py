"""The task file as the loop uses it: while it cannot be read, the loop waits and writes nothing over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from samuel.attempt.stop import Stop, interrupted
from samuel.attempt.workplace import Workplace
from samuel.base.errors import ConfigError
from samuel.history.notices import TaskFileUnreadable
from samuel.tasks.seal import Seal
from samuel.tasks.task import Task

LOOK_AGAIN = 2.0  # seconds between looks at a task file that cannot be read

T = TypeVar("T")


class PatientTasks:
    def __init__(self, place: Workplace, stop: Stop) -> None:
        self._place = place
        self._stop = stop

    def load(self) -> tuple[Task, ...]:
        return self._patiently(self._place.tasks.load)

    def change(
        self, function: Callable[[tuple[Task, ...]], Iterable[Task]], *, trusted: bool = False
    ) -> tuple[Task, ...]:
        return self._patiently(lambda: self._place.tasks.change(function, trusted=trusted))

    def open_seal(self, seal: Seal) -> str:
        return self._patiently(lambda: self._place.tasks.open_seal(seal))

    def _patiently(self, act: Callable[[], T]) -> T:
        last_reported = ""
        while True:
            try:
                return act()
            except ConfigError as error:
                if str(error) != last_reported:
                    last_reported = str(error)
                    self._place.watch(TaskFileUnreadable(last_reported))
            if self._stop.requested:
                raise interrupted()
            self._place.clock.sleep(LOOK_AGAIN)
