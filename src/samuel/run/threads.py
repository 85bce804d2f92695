"""The threads of a run with lanes, and the messages in which they say what came of their work."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from samuel.process.tree import end_calls, resume_calls
from samuel.workspaces.fleet.wire import ReadyLine
from samuel.workspaces.lanes.merging import MergeChecks, PreparedLanding
from samuel.workspaces.workspace import AttemptEnded

T = TypeVar("T")

LAST_WORDS = 10.0  # seconds that threads have to end when their processes are killed


class LandingEnded(NamedTuple):
    """What is ready was merged and checked, as far as it fits."""

    prepared: PreparedLanding | None = None
    error: BaseException | None = None


class BaseChecked(NamedTuple):
    """The checks ran on the commit that a failed attempt began with."""

    task: str
    checks: MergeChecks | None = None
    error: BaseException | None = None


class PlaceChecked(NamedTuple):
    """A place on other machines was asked whether it can work."""

    place: str
    ready: ReadyLine | None = None
    error: BaseException | None = None


Message = AttemptEnded | LandingEnded | BaseChecked | PlaceChecked


class LaneThreads:
    """Each thread sends one message, and then ends."""

    def __init__(self) -> None:
        self._messages: queue.Queue[Message] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0

    @property
    def busy(self) -> bool:
        """Whether a message is still to come."""
        return self._outstanding > 0

    def begin(
        self, name: str, function: Callable[[], T], message: Callable[[T | None, BaseException | None], Message]
    ) -> None:
        """Run the function in a thread. `message` is made of what it returns, or else of what it raises."""

        def run() -> None:
            try:
                ended = message(function(), None)
            except BaseException as error:  # noqa: BLE001  the coordinator raises it, or ends the run
                ended = message(None, error)
            self._messages.put(ended)

        thread = threading.Thread(target=run, name=f"samuel-{name}", daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        self._outstanding += 1
        thread.start()

    def receive(self, seconds: float) -> Message | None:
        """The next message; None if none came within this time."""
        try:
            message = self._messages.get(timeout=seconds)
        except queue.Empty:
            return None
        self._outstanding -= 1
        return message

    def kill(self) -> None:
        """End now: whatever the threads started is killed until they have ended."""
        until = time.monotonic() + LAST_WORDS
        try:
            while alive := [thread for thread in self._threads if thread.is_alive()]:
                if time.monotonic() > until:
                    break
                end_calls()
                alive[0].join(0.05)
        finally:
            resume_calls()  # the run ends in order, with its hooks
