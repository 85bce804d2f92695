"""The landing of ready work: one batch at a time is merged and checked in a thread, and then moves the branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.steps import Steps
from samuel.attempt.stop import RunStopped
from samuel.attempt.workplace import Workplace
from samuel.checks.memory import CheckMemory
from samuel.events import AfterLand
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.history.attempts import KeptAttempt
from samuel.history.notices import IterationFailed, LandingParked, LandingStarted, LaneReport, WorkLanded
from samuel.history.run import LaneRecord, Run, TaskCells
from samuel.run.ledger import TaskLedger
from samuel.run.settling import MOST_GREEN, Settled, refused, with_kept
from samuel.run.threads import BaseChecked, LandingEnded, LaneThreads
from samuel.tasks.task import Task
from samuel.workspaces.lanes.branch import Branch
from samuel.workspaces.lanes.merging import Merging, PreparedLanding, Refusal
from samuel.workspaces.lanes.run_state import SharedRun


class LandingQueue:
    def __init__(
        self,
        place: Workplace,
        checks: CheckMemory,
        steps: Steps,
        shared: SharedRun,
        branch: Branch,
        merging: Merging,
        ledger: TaskLedger,
        threads: LaneThreads,
        stopped: Callable[[RunStopped], None],
    ) -> None:
        """`stopped` is told when the whole run has to end."""
        self._place = place
        self._checks = checks
        self._steps = steps
        self._shared = shared
        self._branch = branch
        self._merging = merging
        self._ledger = ledger
        self._threads = threads
        self._stopped = stopped
        self._suspects: list[str] = []  # tasks whose checks failed on a base that nobody checked
        self.passed: dict[str, tuple[CheckRun, ...] | None] = {}  # by task: the checks in its lane
        self.landed: dict[str, str] = {}  # by task: the commit that this process landed it with
        self.busy = False

    def suspects(self, record: LaneRecord) -> bool:
        """Whether nobody has checked the commit that a failed attempt began with; then it is checked next."""
        is_suspect = self._tree_of(record.base) not in self._shared.lanes.green
        if is_suspect:
            self._suspects.append(record.task)
        return is_suspect

    def start(self, *, halted: bool) -> None:
        """Merge and check what is ready, unless that is being done, nothing may land, or a task lands alone."""
        if self.busy:
            return
        active = self._shared.lanes.active
        if self._suspects:
            self.busy = True
            record, tasks = self._shared.record(self._suspects.pop(0)), self._ledger.by_id()
            self._threads.begin(
                "landing",
                lambda: self._check_base(record, tasks),
                lambda error: BaseChecked(record.task, error=error),
            )
            return
        ready = [record for record in active.values() if record.result is not None and record.result.work]
        if halted or not ready:
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
            tip = self._branch.tip()
        except RunStopped as stopped:
            self._stopped(stopped)
            return
        ready.sort(key=lambda record: record.iteration)
        self.busy = True
        self._place.watch(LandingStarted(tuple(record.task for record in ready), len(active) - len(ready)))
        run, green = self._shared.run, self._shared.lanes.green
        self._threads.begin(
            "landing",
            lambda: self._prepare(run, ready, tasks, tip, green),
            lambda error: LandingEnded(error=error),
        )

    def _decided_by_person(self, ready: list[LaneRecord], tasks: Mapping[str, Task]) -> list[LaneRecord]:
        """Those of the ready records whose task a person did not complete, skip or block meanwhile."""
        left = []
        for record in ready:
            task = tasks.get(record.task)
            if task is None or task.status != "in_progress":
                assert record.result is not None
                settlement = replace(
                    record.result.settlement, outcome=IterationOutcome.INCOMPLETE, row=TaskCells(), commit=None
                )
                self._ledger.settle([Settled(record, settlement)])
            else:
                left.append(record)
        return left

    def _prepare(
        self,
        run: Run,
        ready: Sequence[LaneRecord],
        tasks: Mapping[str, Task],
        tip: str,
        green: Sequence[str],
    ) -> LandingEnded:
        # What was found on the remote was not seen to pass: whoever may push there can write a record.
        own = [
            record.result.tree
            for record in ready
            if record.result and (not record.place or self.passed.get(record.task))
        ]
        trees = (*green, *own)
        return LandingEnded(self._merging.prepare(run, ready, tasks, tip, trees, self._branch.name))

    def _check_base(self, record: LaneRecord, tasks: Mapping[str, Task]) -> BaseChecked:
        _, why = self._merging.check(self._shared.run, record.base, (), tasks)
        return BaseChecked(record.task, self._tree_of(record.base), why)

    def base_checked(self, message: BaseChecked) -> None:
        self.busy = False
        record = self._shared.record(message.task)
        if message.why:
            self._base_is_broken(message.why)
            return
        green = tuple(dict.fromkeys((*self._shared.lanes.green, message.tree)))
        self._shared.set_lanes(green=green[-MOST_GREEN:])
        assert record.result is not None
        self._ledger.settle([Settled(record, record.result.settlement)])

    def _base_is_broken(self, why: str) -> None:
        """End: nobody is to blame, so the tasks under way are pending again, and what is ready stays ready."""
        text = f"the checks fail on `{self._branch.name}` itself\n{why}"
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
                moved = self._branch.move(prepared)
            except RunStopped as stopped:
                self._stopped(stopped)
                return
            if moved:
                self._landed(prepared)

    def _landed(self, prepared: PreparedLanding) -> None:
        """The branch has moved: the tasks are completed."""
        commit = prepared.commit
        runs = prepared.runs if prepared.runs is not None else self.passed.get(prepared.landing[0].task)
        if runs is not None:
            self._checks.set_verified(runs)
        settled = [
            Settled(record, record.result.settlement, commit) for record in prepared.landing if record.result
        ]
        tasks = tuple(record.task for record in prepared.landing)
        self.landed |= dict.fromkeys(tasks, commit)
        self._place.watch(WorkLanded(tasks, commit, self._branch.name))
        self._ledger.settle(settled, tip=commit, green=prepared.tree)
        event = AfterLand(tasks=list(tasks), commit=commit, branch=self._branch.name)
        run = replace(self._shared.run, iteration=prepared.landing[0].iteration)
        first = settled[0]
        task = self._ledger.by_id().get(first.record.task)  # a person may have removed it
        self._steps.state = state_of_settled(self._place, run, task, first.settlement)
        fired = self._steps.notify(run, event)
        if fired.stopped:
            self._shared.update(lambda run: run.complain("after:land", fired.reason))

    def _refuse(self, refusal: Refusal) -> None:
        record, tasks = refusal.record, self._ledger.by_id()
        assert record.result is not None
        self._place.watch(LaneReport(record.lane, IterationFailed(refusal.outcome, refusal.why)))
        ref = self._branch.refs.work_ref(record.task, record.attempt)
        most = self._place.settings.max_task_attempts
        task = tasks[record.task]
        settlement = refused(record, task, refusal.outcome, refusal.why, ref, most)
        last = KeptAttempt(record.result.tree, self._tree_of(record.base), ref)
        self._shared.update(lambda run: with_kept(run, record.task, last))
        self._ledger.settle([Settled(record, settlement)])

    def _tree_of(self, commit: str) -> str:
        return self._branch.refs.facts(commit)[0][0]
