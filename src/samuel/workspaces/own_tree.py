"""The user's own work tree as a workspace: one attempt at a time, whose work is committed there or put away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from samuel.attempt import baseline
from samuel.attempt.iteration import Iteration
from samuel.attempt.run_files import RunFiles
from samuel.attempt.steps import Steps
from samuel.attempt.stop import RunStopped, Stop
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import file_name
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.git.git import GitFailed
from samuel.history.own_branch import OwnBranch, choose_branch
from samuel.history.run import AttemptResult, AttemptUnderWay, Run
from samuel.history.run_state import RunState
from samuel.history.tree_state import TreeState
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.settle import AppliedSettlement, apply
from samuel.workspaces.workspace import AttemptEnded


class OwnTree:
    inline = True

    def __init__(self, place: Workplace, steps: Steps, stop: Stop, state: RunState) -> None:
        self._place = place
        self._steps = steps
        self._state = state
        self.files = RunFiles.pinned(place, stop)

    def choose_branch(self, run_id: str, before: OwnBranch | None) -> OwnBranch | None:
        git, make = self._place.git, self._place.settings.branch
        if make and git.is_repository and not git.head():
            self._place.warn("there is no commit yet, so this run makes no branch of its own")
        return choose_branch(git, run_id, before, make=make)

    def of_run(self, run_id: str, tree: TreeState) -> None:
        """Let the files be those of this run."""
        self.files = self.files.of_run(self._place, run_id, tree)

    def take_over(self, last_run: Run | None) -> tuple[str, ...]:
        return self.files.attempts.begin(last_run.tree if last_run else None)

    def excluded_from_commits(self, person: Sequence[str]) -> list[str]:
        """The paths that the run must not commit: a person's, or all where an agent may make a repository."""
        if self.files.attempts.unavailable:
            return self.files.project.excluded_from_commits(commit=self._place.settings.commit)
        return [path for path in person if path == file_name(path)]

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def recover(self, record: AttemptUnderWay) -> AttemptResult | None:
        return None  # what it changed was looked at when the run was resumed

    def baseline(self, tasks: Tasks) -> baseline.CheckedBaseline:
        try:
            return baseline.check_baseline(self._place, self.files, self._steps, self._state.run)
        except GitFailed as lost:  # a check removed the repository
            raise RunStopped(IterationOutcome.ABORTED, str(lost), ExitReason.ERROR) from None

    def free_slot(self, *, discovery: bool) -> UnsetType | None:
        return None if self._state.run.active else UNSET

    def why_no_slot(self) -> str:
        return ""

    def placed(self, record: AttemptUnderWay) -> AttemptUnderWay:
        return record

    def begin(
        self, run: Run, record: AttemptUnderWay, task: Task | None, tasks: Tasks
    ) -> Callable[[], AttemptEnded]:
        return partial(self._attempt, run, record, task)

    def _attempt(self, run: Run, record: AttemptUnderWay, task: Task | None) -> AttemptEnded:
        iteration = Iteration(self._place, self._steps, self.files, run, task, self._save_tree)
        error: RunStopped | None = None
        try:
            settlement = iteration.work()
        except RunStopped as stopped:
            if stopped.exit_reason is not ExitReason.ERROR or not iteration.agent_ran:
                return AttemptEnded(record.task, error=stopped, mode=iteration.run.mode)
            settlement, error = iteration.stopped(stopped), stopped
        result = AttemptResult(settlement=settlement, mode=iteration.run.mode)
        return AttemptEnded(record.task, result, error=error)

    def _save_tree(self, run: Run) -> Run:
        self._state.set(tree=run.tree)
        return run

    def end(self, task: str) -> None:
        pass  # there are no other machines

    def ended(self, record: AttemptUnderWay, result: AttemptResult) -> AttemptResult:
        return result

    def land(self, record: AttemptUnderWay) -> AppliedSettlement:
        """Commit the work of an attempt, or put it away. Idempotent; the tree of the run is to be saved then."""
        assert record.result is not None
        run = replace(self._state.run, iteration=record.iteration)
        return apply(self._place, self.files, run, record.result.settlement)

    def cut_off(self) -> None:
        """Look at what an attempt changed that was cut off: the next run knows whose changes these are."""
        if not self._state.run.tree.task:
            return
        self.files.repository.end_attempt(self._state.run, is_completed=False)
        try:
            self.files.attempts.observe()
        except SamuelError as error:
            if self._place.git.index_file.parent.is_dir():  # else the repository is gone, which is said already
                self._place.warn(f"what the last attempt changed is not known: {error.message}")
        self._state.change_later(lambda run: replace(run, tree=self.files.attempts.state))
