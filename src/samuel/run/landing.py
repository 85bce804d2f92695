"""The landing of ready work: one batch at a time is merged and checked in a thread, and then moves the branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.steps import Steps
from samuel.attempt.stop import RunStopped
from samuel.events import AfterLand
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.history.notices import IterationFailed, LandingParked, LandingStarted, LaneReport, WorkLanded
from samuel.history.run import AttemptUnderWay, TaskCells
from samuel.history.run_state import RunState
from samuel.history.tree_state import KeptAttempt
from samuel.run.ledger import TaskLedger
from samuel.run.settling import Settled, landed, refused, settled_in_lane, with_green, with_kept
from samuel.run.threads import BaseChecked, LandingEnded, LaneThreads
from samuel.tasks.task import Task
from samuel.workspaces.lanes.lane_workspace import LaneWorkspace
from samuel.workspaces.lanes.merging import PreparedLanding, Refusal
from samuel.workspaces.settle import AppliedSettlement


class LandingQueue:
    def __init__(
        self,
        workspace: LaneWorkspace,
        steps: Steps,
        state: RunState,
        ledger: TaskLedger,
        threads: LaneThreads,
        stopped: Callable[[RunStopped], None],
    ) -> None:
        """`stopped` is told when the whole run has to end."""
        self._workspace = workspace
        self._place = workspace.place
        self._steps = steps
        self._state = state
        self._ledger = ledger
        self._threads = threads
        self._stopped = stopped
        self._suspects: list[str] = []  # tasks whose checks failed on a base that was not checked
        self._passed: dict[str, tuple[CheckRun, ...] | None] = {}  # by task: the checks in its lane
        self.halted = False  # True: nothing may land any more in this run
        self.busy = False

    def takes(self, record: AttemptUnderWay, runs: tuple[CheckRun, ...] | None) -> bool:
        """Whether the result of an attempt is settled from here: its work lands, or its base is checked first."""
        assert record.result is not None
        self._passed[record.task] = runs
        if record.result.work:
            return True
        failed = record.result.settlement.outcome is IterationOutcome.QUALITY_FAILED
        is_suspect = failed and self._workspace.tree_of(record.base) not in self._state.lanes.green
        if is_suspect:
            self._suspects.append(record.task)
        return is_suspect

    def start(self) -> None:
        """Merge and check what is ready, unless that is being done, nothing may land, or a task lands alone."""
        if self.busy:
            return
        active = self._state.run.active
        if self._suspects:
            self.busy = True
            record, tasks = active[self._suspects.pop(0)], self._ledger.by_id()
            check = partial(self._workspace.merging.check, self._state.run, record.base, (), tasks)
            self._threads.begin("landing", check, partial(BaseChecked, record.task))
            return
        ready = [record for record in active.values() if record.result is not None and record.result.work]
        if self.halted or not ready:
            return
        if lone := [record for record in active.values() if record.exclusive]:
            ready = [record for record in ready if record is lone[0]]
            if not ready:
                return
        tasks = self._ledger.by_id()
        ready = [record for record in self._decided_by_person(ready, tasks) if record.task in tasks]
        if not ready:
            return
        try:
            tip = self._workspace.branch.tip()
        except RunStopped as stopped:
            self._stopped(stopped)
            return
        ready.sort(key=lambda record: record.iteration)
        self.busy = True
        self._place.watch(LandingStarted(tuple(record.task for record in ready), len(active) - len(ready)))
        run, branch = replace(self._state.run, mode="implementation"), self._workspace.branch.name
        green = (*self._state.lanes.green, *self._green_in_lanes(ready))
        prepare = partial(self._workspace.merging.prepare, run, ready, tasks, tip, green, branch)
        self._threads.begin("landing", prepare, LandingEnded)

    def _green_in_lanes(self, ready: Sequence[AttemptUnderWay]) -> list[str]:
        """The trees of ready work on which the checks passed before it was to land.

        What was found on the remote was not seen to pass: anyone who may push there can write a record.
        """
        return [
            record.result.tree
            for record in ready
            if record.result and (not record.place or self._passed.get(record.task))
        ]

    def _decided_by_person(self, ready: list[AttemptUnderWay], tasks: Mapping[str, Task]) -> list[AttemptUnderWay]:
        """Those of the ready records whose task a person did not complete, skip or block meanwhile."""
        left = []
        for record in ready:
            task = tasks.get(record.task)
            if task is None or task.status != "in_progress":
                assert record.result is not None
                settlement = replace(
                    record.result.settlement, outcome=IterationOutcome.INCOMPLETE, row=TaskCells(), commit=None
                )
                self._ledger.settle([settled_in_lane(record)._replace(settlement=settlement)])
            else:
                left.append(record)
        return left

    def base_checked(self, message: BaseChecked) -> None:
        self.busy = False
        record = self._state.run.active[message.task]
        assert message.checks is not None
        if message.checks.why:
            self._ledger.give_back(message.task)
            self._base_is_broken(message.checks.why)
            return
        tree = self._workspace.tree_of(record.base)
        self._state.set_lanes(green=with_green(self._state.lanes, tree))
        self._ledger.settle([settled_in_lane(record)])

    def _base_is_broken(self, why: str) -> None:
        """End: no task is to blame, so those under way are pending again, and what is ready stays ready."""
        self.halted = True
        text = f"the checks fail on `{self._workspace.branch.name}` itself\n{why}"
        self._stopped(RunStopped(IterationOutcome.ABORTED, text, ExitReason.BASE_BROKEN))

    def ended(self, message: LandingEnded) -> None:
        self.busy = False
        prepared = message.prepared
        assert prepared is not None
        for denial in prepared.denied:
            self._ledger.park(denial)
            self._place.watch(LandingParked(denial.record.task, denial.reason))
        for refusal in prepared.refused:
            self._refuse(refusal)
        if prepared.broken_base:
            self._base_is_broken(prepared.broken_base)
        elif prepared.commit:
            try:
                moved = self._workspace.branch.move(prepared)
            except RunStopped as stopped:
                self.halted = True
                self._stopped(stopped)
                return
            if moved:
                self._landed(prepared)

    def _landed(self, prepared: PreparedLanding) -> None:
        """The branch has moved: the tasks are completed."""
        commit, branch = prepared.commit, self._workspace.branch.name
        self._workspace.write_receipts(prepared.landing, commit, prepared.predicate)
        runs = prepared.runs if prepared.runs is not None else self._passed.get(prepared.landing[0].task)
        if runs is not None:
            self._workspace.checks.set_verified(runs)
        tasks = tuple(record.task for record in prepared.landing)
        self._place.watch(WorkLanded(tasks, commit, branch))
        settle_landed(self._ledger, prepared.landing, commit, prepared.tree)
        first = prepared.landing[0]
        assert first.result is not None
        run = replace(self._state.run, iteration=first.iteration, mode=first.result.mode)
        task = self._ledger.by_id().get(first.task)  # a person may have removed it
        self._steps.state = state_of_settled(self._place, run, task, first.result.settlement)
        fired = self._steps.notify(run, AfterLand(tasks=list(tasks), commit=commit, branch=branch))
        if fired.stopped:
            self._state.change(lambda run: run.complain("after:land", fired.reason))

    def _refuse(self, refusal: Refusal) -> None:
        record = refusal.record
        assert record.result is not None
        self._place.watch(LaneReport(record.lane or 0, IterationFailed(refusal.outcome, refusal.why)))
        ref = self._workspace.branch.refs.work_ref(record.task, record.attempt)
        task, most = self._ledger.by_id()[record.task], self._place.settings.max_task_attempts
        settlement = refused(record, task, refusal.outcome, refusal.why, ref, most)
        last = KeptAttempt(record.result.tree, self._workspace.tree_of(record.base), ref)
        self._ledger.settle(
            [Settled(record, settlement, AppliedSettlement(ref=ref))],
            partial(with_kept, task=record.task, last=last),
        )


def settle_landed(ledger: TaskLedger, records: Sequence[AttemptUnderWay], commit: str, tree: str) -> None:
    """Settle tasks that have landed with a commit of this tree."""
    settled = [
        Settled(record, record.result.settlement, AppliedSettlement(commit))
        for record in records
        if record.result is not None
    ]
    ledger.settle(settled, partial(landed, commit=commit, tree=tree, count=len(settled)))
