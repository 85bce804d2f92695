"""Where attempts are made: what the coordinator asks of the user's own work tree, and of lanes and machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from msgspec import UnsetType

from samuel.attempt.baseline import CheckedBaseline
from samuel.events.loop import CheckRun
from samuel.history.own_branch import OwnBranch
from samuel.history.run import AttemptResult, AttemptUnderWay, Run, RunMode
from samuel.tasks.task import Task, Tasks


class AttemptEnded(NamedTuple):
    """The message that an attempt came to a result, or could not go on."""

    task: str
    result: AttemptResult | None = None
    runs: tuple[CheckRun, ...] | None = None
    """The checks that passed in its lane."""
    error: BaseException | None = None
    """Why it could not go on; with a result, why no other attempt can."""
    mode: RunMode = "implementation"

    @classmethod
    def of_thread(cls, task: str, ended: AttemptEnded | None, error: BaseException | None) -> AttemptEnded:
        """The message of an attempt in a thread of its own, or of the error that the thread raised."""
        return ended or cls(task, error=error)


class AttemptWorkspace(Protocol):
    @property
    def inline(self) -> bool:
        """Whether an attempt is made in the thread of the coordinator, and takes its task itself."""

    def choose_branch(self, run_id: str, before: OwnBranch | None) -> OwnBranch | None:
        """The branch that is to be checked out for a run; None for the one that is. Changes nothing."""

    def take_over(self, last_run: Run | None) -> tuple[str, ...]:
        """Begin a new run after the last one; the paths of a person's own changes, which it never writes."""

    def open(self) -> None:
        """Make everything ready for the first attempt."""

    def recover(self, record: AttemptUnderWay) -> AttemptResult | None:
        """The result of an attempt that was under way in a run that was killed; None if it came to none."""

    def baseline(self, tasks: Tasks) -> CheckedBaseline:
        """Run the checks once, before the first agent."""

    def free_slot(self, *, discovery: bool) -> int | UnsetType | None:
        """Where an attempt can be made now, as `AttemptUnderWay.lane` has it; None if nowhere."""

    def why_no_slot(self) -> str:
        """Why no slot will ever be free in this run; "" if one may."""

    def placed(self, record: AttemptUnderWay) -> AttemptUnderWay:
        """The attempt with where it begins."""

    def begin(
        self, run: Run, record: AttemptUnderWay, task: Task | None, tasks: Tasks
    ) -> Callable[[], AttemptEnded]:
        """The function that makes an attempt; None for a discovery. `tasks` are those of the task file."""

    def end(self, task: str) -> None:
        """End the attempt at a task on another machine, so that it starts again. Called from another thread."""

    def ended(self, record: AttemptUnderWay, result: AttemptResult) -> AttemptResult:
        """The result with what else is known of it, before it is saved."""

    def close(self) -> None: ...
