"""What people asked of the run that is under way, as its coordinator takes it in between attempts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.files.explained import reason
from samuel.history.notices import RunSteered
from samuel.history.run import AttemptUnderWay, RunMode, Settlement
from samuel.history.run_state import RunState
from samuel.history.steering import NOTHING_ASKED, Guidance, Rejection, Steering, SteeringFile
from samuel.tasks.queue import OPEN
from samuel.tasks.task import Task, Tasks

LOOK_EVERY = 0.5  # seconds
STOPPING = "a stop was requested: the run ends when the attempts under way have ended"


class RunSteering:
    def __init__(self, place: Workplace, state: RunState, stop: Stop) -> None:
        self._place = place
        self._state = state
        self._stop = stop
        self._file = SteeringFile(place.record, place.disk)
        self._steering = NOTHING_ASKED
        self._reported_pause = False

    @contextmanager
    def watched(self, end_elsewhere: Callable[[str], None]) -> Iterator[None]:
        """Meanwhile, end attempts under way that a person wants to start again, also while one is made here.

        `end_elsewhere` is called with the task of an attempt on another machine.
        """
        is_over = threading.Event()

        def watch() -> None:
            while not is_over.wait(LOOK_EVERY):
                with suppress(OSError, SamuelError):  # the coordinator reads it too, and says what is wrong
                    self._end_attempts(self._file.load(), end_elsewhere)

        thread = threading.Thread(target=watch, name="samuel-steering", daemon=True)
        if self._place.record is not None:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            if thread.is_alive():
                thread.join()

    def _end_attempts(self, steering: Steering, end_elsewhere: Callable[[str], None]) -> None:
        for record in self._state.run.active.values():
            texts = {entry.id for entry in record.guidance}
            for entry in steering.guidance:
                if record.result is None and entry.ends(record.task) and entry.id not in texts:
                    self._place.early_ends.end(record.iteration, f"{entry.who} said something to it")
                    if record.place:
                        end_elsewhere(record.task)

    def look(self) -> None:
        """Read what was asked since, and stop if that was. Raises ConfigError for a document that is broken."""
        self._steering = self._file.load()
        if self._steering.stop == self._state.run.run_id and not self._stop.requested:
            self._stop.requested = True
            self._place.watch(RunSteered(STOPPING))

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """What is to be taken back."""
        return self._steering.rejections

    def strike(self, rejection: Rejection) -> None:
        """Forget a rejection that was carried out."""
        self._steering = self._file.change(partial(Steering.strike, rejection=rejection))

    @property
    def is_paused(self) -> bool:
        """Whether no attempt may begin. Reported when that changes."""
        pause = self._steering.pause
        if pause is not None and not self._reported_pause:
            self._place.watch(RunSteered(f"paused by {pause.who}: `samuel run resume` lets the run go on"))
        elif pause is None and self._reported_pause:
            self._place.watch(RunSteered("resumed"))
        self._reported_pause = pause is not None
        return self._reported_pause

    def agents_for(self, task: Task | None, mode: RunMode, agents: Sequence[str]) -> Sequence[str]:
        """The agents of the run that may work on a task: the one that a person chose for it, if one did."""
        chosen = self._steering.agents.get(task.id) if task and mode == "implementation" else None
        return (chosen,) if chosen else agents

    def guidance_for(self, task: Task | None, tasks: Tasks) -> tuple[Guidance, ...]:
        """What an attempt at the task gets to read that begins now; None for a discovery."""
        if task is not None and task.accepted_by:  # no agent works
            return ()
        held = {entry.id for record in self._state.run.active.values() for entry in record.guidance}
        unfinished = [row.id for row in tasks if row.status in OPEN]
        own = task.id if task else ""
        return tuple(entry for entry in self._steering.guidance if entry.is_for(own, held, unfinished))

    def deliver(self, attempts: Iterable[tuple[AttemptUnderWay, Settlement]]) -> None:
        """Note what attempts had in their prompts, before the run forgets them. Idempotent.

        An attempt that is not counted, or whose agent did not start, delivered nothing: the next one gets it.
        """
        for record, settlement in attempts:
            if not (record.guidance and settlement.counted and settlement.agent):
                continue
            try:
                self._file.change(partial(Steering.deliver, entries=record.guidance, task=record.task))
            except (OSError, SamuelError) as error:
                self._place.warn(f"what was said to task `{record.task}` may be said again: {reason(error)}")
