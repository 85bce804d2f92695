"""The loop with several agents at once: it gives tasks to lanes, and lands their work.

The thread that runs the loop coordinates: it alone picks tasks, gives out numbers, writes the task file and moves
the branch. Each attempt runs in a thread of its own, and merges are checked in one more. What they find out comes
back as a message. A lane keeps its task until the work has landed or was refused.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.clock import iso
from samuel.errors import SamuelError
from samuel.events import AfterLand, BeforeLoop
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.loop.attempts import NO_TREE, KeptAttempt
from samuel.loop.availability import choose
from samuel.loop.checks import baseline
from samuel.loop.evidence import report
from samuel.loop.lanes.attempt import AttemptRequest, work
from samuel.loop.lanes.branch import Branch, first_state
from samuel.loop.lanes.lane import LANDING, Lane, OpenLane
from samuel.loop.lanes.merging import Denial, Merging, PreparedLanding, Refusal
from samuel.loop.lanes.picking import pick
from samuel.loop.lanes.run_state import SharedRun
from samuel.loop.lanes.settling import (
    LONE_AFTER,
    MOST_GREEN,
    Settled,
    counted,
    parked,
    refused,
    with_kept,
    with_results,
)
from samuel.loop.lanes.shared_limits import Reservations, may_start
from samuel.loop.loop import Loop
from samuel.loop.reports import (
    AgentChanged,
    BranchChosen,
    IterationFailed,
    LandingParked,
    LandingStarted,
    LaneReport,
    Report,
    RunRefused,
    WaitStarted,
    WorkLanded,
)
from samuel.loop.run import AttemptResult, LaneRecord, LanesState, Run, TaskCells
from samuel.loop.settle import AppliedSettlement
from samuel.loop.steps import Steps
from samuel.loop.stop import RunStopped, Stop, reason_without_task
from samuel.loop.workplace import Workplace
from samuel.process.tree import kill_all
from samuel.tasks.question import Question, new_id
from samuel.tasks.seal import Seal
from samuel.tasks.task import Task

TICK = 1.0  # seconds after which a request to stop and the end of a wait are seen
LAST_ITERATION = 1 << 30  # of a seal that holds for the whole run
LAND = "land"  # the answer by which a person lets work land


class LaneOptions(NamedTuple):
    """How a run uses lanes."""

    lanes: int
    directory: Path
    """Where the lanes of this project are."""
    open_lane: OpenLane
    own_branch: bool = False


class AttemptEnded(NamedTuple):
    task: str
    result: AttemptResult | None = None
    runs: tuple[CheckRun, ...] | None = None
    error: BaseException | None = None


class LandingEnded(NamedTuple):
    prepared: PreparedLanding | None = None
    error: BaseException | None = None


class BaseChecked(NamedTuple):
    """The checks ran on the commit that a failed attempt began with."""

    task: str
    tree: str = ""
    why: str = ""
    error: BaseException | None = None


Message = AttemptEnded | LandingEnded | BaseChecked


class LaneLoop(Loop):
    def __init__(
        self, place: Workplace, steps: Steps, stop: Stop, pinned: Mapping[str, Any], options: LaneOptions
    ) -> None:
        super().__init__(place, steps, stop, pinned)
        self._options = options
        self._messages: queue.Queue[Message] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0  # messages of threads that have not come yet
        self._display_lock = threading.Lock()
        self._earlier: LanesState | None = None  # of the run before
        self._reservations = Reservations(place.settings.budgets)
        self._probes: set[str] = set()  # tasks whose agent tries whether a limit is over
        self._passed: dict[str, tuple[CheckRun, ...] | None] = {}  # by task: the checks in its lane
        self._lanes: dict[int, Lane] = {}
        self._is_landing = False
        self._suspects: list[str] = []  # tasks whose checks failed on a base that nobody checked
        self._reason: ExitReason | None = None
        self._waiting_until = 0.0

    # Beginning and ending

    def _take_work_tree(self, last_run: Run | None) -> tuple[str, ...]:
        """A run with lanes leaves the work tree of its user alone."""
        self._earlier = last_run.lanes if last_run and last_run.lanes is not UNSET else None
        return ()

    def _work(self, run: Run) -> ExitReason:
        run = self._recover(run)  # of a run that had no lanes
        if run.lanes is UNSET:
            lanes, why = first_state(
                self._place.git, run.run_id, self._options.lanes, own=self._options.own_branch
            )
            run = self._file.save(replace(run, lanes=lanes, tree=NO_TREE))
            if why:
                self._place.watch(BranchChosen(lanes.branch, why))
        self._shared = SharedRun(run, self._file.save)
        self._branch = Branch(self._place, self._shared, self._options.directory / "merges")
        self._branch.sweep(self._options.directory)
        try:
            self._open_lanes()
            self._resume()
            return self._loop()
        except BaseException:
            self._kill_threads()
            raise
        finally:
            for lane in self._lanes.values():
                lane.close()

    def _open_lanes(self) -> None:
        """Make and open all lanes before the first agent starts: a sandbox looks at every git directory."""
        tip = self._branch.tip()
        numbers = {LANDING, *range(1, self._options.lanes + 1)}
        numbers |= {record.lane for record in self._shared.lanes.active.values()}
        for number in sorted(numbers):
            lane = Lane(number, self._place, self._options.directory, self._files.protected)
            lane.make(tip)
            lane.open(self._options.open_lane, self._watch_of(number))
            self._lanes[number] = lane
        self._shared.set_lanes(count=self._options.lanes)
        self._merging = Merging(self._lanes[LANDING], self._branch.refs, self._files.checks, self._branch.name)

    def _watch_of(self, number: int) -> Callable[[Report], None]:
        def watch(report: Report) -> None:
            with self._display_lock:
                self._place.watch(LaneReport(number, report))

        return watch

    def _loop(self) -> ExitReason:
        run = self._shared.run
        self._report_start(run)
        before = BeforeLoop(prd_path=str(self._place.prd), max_iterations=run.max_iterations)
        fired = self._steps.ask(replace(run, iteration=0), before)
        if fired.stopped:
            self._place.watch(RunRefused(fired.reason))
            self._note(ExitReason.STRICT_FAILURE, fired.reason)
            return ExitReason.STRICT_FAILURE
        self._shared.update(lambda run: replace(run, plugins=dict(fired.context.get("Plugins", {}))))
        with self._sealed():
            self._take_over_ready()
            return self._coordinate()

    @contextmanager
    def _sealed(self) -> Iterator[None]:
        """Nothing but the coordinator and people may change the tasks while lanes are at work."""
        seal = Seal(run_id=self._shared.run.run_id, iteration=LAST_ITERATION, step="check")
        if why := self._files.tasks.open_seal(seal):
            self._place.warn(f"the tasks are not sealed on disk, so a kill would lose what they were: {why}")
        try:
            yield
        finally:
            self._release()
            rebuilt = self._place.tasks.close_seal()
            if rebuilt is not None:
                report(self._place, rebuilt, "an agent or a check")

    def _check_baseline_in_lane(self) -> bool:
        """Run the checks on the branch as it is; False if they fail and that is not accepted."""
        if self._shared.run.baseline_done:
            return True
        tip, lane = self._branch.tip(), self._lanes[LANDING]
        lane.reset(tip)
        files = lane.files(self._shared.run.run_id, {}, self._files.checks, self._stop)
        files = files._replace(checks=self._files.checks)
        lane.give(self._tasks())
        run = baseline.check_baseline(lane.place, files, lane.steps, self._shared.run)
        done = run.baseline_done
        green = (self._branch.refs.facts(tip)[0][0],) if done else ()
        self._shared.update(
            lambda run: replace(run, baseline_done=done, lanes=replace(self._shared.lanes, green=green))
        )
        self._history.begin(self._shared.run, self._files)
        return done

    # The loop

    def _coordinate(self) -> ExitReason:
        while True:
            if self._reason is None:
                self._reason = self._start_attempts()
            self._start_landing()
            if self._reason is not None and not self._outstanding:
                return self._reason
            self._receive()

    def _receive(self) -> None:
        """Wait for a message of a thread, or for a moment."""
        try:
            message = self._messages.get(timeout=TICK)
        except queue.Empty:
            return
        self._outstanding -= 1
        if message.error is not None:
            self._failed(message, message.error)
            return
        match message:
            case AttemptEnded():
                self._attempt_ended(message)
            case LandingEnded():
                self._landing_ended(message)
            case BaseChecked():
                self._base_checked(message)

    def _start_attempts(self) -> ExitReason | None:
        """Give tasks to free lanes; a reason to end if nothing more is to be started."""
        while True:
            if self._shared.lanes.ready:
                self._take_over_ready()
            run, active = self._shared.run, self._shared.lanes.active
            tasks = self._tasks()
            task = pick(tasks, active)
            no_task = None if task or active else reason_without_task(tasks)
            if reason := self._reason_to_end(run, no_task):
                return reason
            if not self._check_baseline_in_lane():
                self._note(ExitReason.BASE_BROKEN, baseline.FAILED)
                return ExitReason.BASE_BROKEN
            lane = self._free_lane()
            if task is None or lane is None:
                return None
            if run.counted_iterations + len(active) >= run.max_iterations:
                return None
            if active and self._reservations.spent_with(run.usage, len(active), run.added_budget):
                return None
            choice = choose(run.agents, run.waits, self._place.clock.now(), self._place.settings.max_wait)
            if not choice.agent:
                self._note(ExitReason.AGENT_UNAVAILABLE, choice.why)
                return ExitReason.AGENT_UNAVAILABLE
            if choice.until:
                if choice.until != self._waiting_until:
                    self._waiting_until = choice.until
                    self._place.watch(WaitStarted(choice.agent, choice.until, choice.why))
                return None
            at_work = [record.agent for record in active.values() if record.result is None]
            if not may_start(choice.agent, run.waits, at_work):
                return None
            if choice.agent != run.agent and run.agent in run.waits:
                self._place.watch(AgentChanged(choice.agent, f"{run.agent}: {run.waits[run.agent].why}"))
            self._start(lane, task, choice.agent)

    def _free_lane(self) -> Lane | None:
        taken = {record.lane for record in self._shared.lanes.active.values()}
        numbers = (number for number in range(1, self._options.lanes + 1) if number not in taken)
        return next((self._lanes[number] for number in numbers), None)

    def _start(self, lane: Lane, task: Task, agent: str) -> None:
        """Give the task to the lane: saved first, then in the task file, then begun."""
        run, lanes = self._shared.run, self._shared.lanes
        base = self._branch.tip()
        number = max(run.iteration, run.iterations_run) + 1
        if agent in run.waits:
            self._probes.add(task.id)
        record = LaneRecord(
            lane=lane.number,
            iteration=number,
            task=task.id,
            attempt=task.attempts + 1,
            agent=agent,
            base=base,
            started_at=self._place.clock.now(),
            exclusive=lanes.conflicts.get(task.id, 0) >= LONE_AFTER,
        )
        active = {**lanes.active, task.id: record}
        self._shared.update(
            lambda run: replace(
                run, iteration=number, agent=agent, working=True, lanes=replace(self._shared.lanes, active=active)
            )
        )
        tasks = self._change(
            lambda rows: [
                replace(row, status="in_progress", claimed=False, iteration=number) if row.id == task.id else row
                for row in rows
            ]
        )
        request = AttemptRequest(
            run=replace(self._shared.run, lanes=UNSET),
            task=task,
            tasks=[replace(row, status="pending") if row.id == task.id else row for row in tasks],
            base=base,
            last_attempts=dict(run.tree.attempts),
            checks=self._files.checks,
            fresh=lanes.conflicts.get(task.id, 0) > 0,
        )
        self._begin_thread(lambda: self._attempt(lane, request), f"samuel-lane-{lane.number}")

    def _attempt(self, lane: Lane, request: AttemptRequest) -> Message:
        task = request.task.id

        def save(run: Run) -> Run:
            self._shared.change_active(task, tree=run.tree)
            return run

        try:
            result, runs = work(lane, request, self._stop, save)
            return AttemptEnded(task, result, runs)
        except BaseException as error:  # noqa: BLE001  the coordinator raises it, or ends the run
            return AttemptEnded(task, error=error)

    def _begin_thread(self, function: Callable[[], Message], name: str) -> None:
        thread = threading.Thread(target=lambda: self._messages.put(function()), name=name, daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        self._outstanding += 1
        thread.start()

    # What came of it

    def _attempt_ended(self, message: AttemptEnded) -> None:
        result = message.result
        assert result is not None
        self._passed[message.task] = message.runs
        self._shared.change_active(message.task, result=result)
        if result.work:
            return  # it lands next
        record = self._shared.record(message.task)
        if result.settlement.outcome is IterationOutcome.QUALITY_FAILED and self._is_suspect(record):
            self._suspects.append(message.task)
            return
        self._settle([Settled(record, result.settlement, probe=record.task in self._probes)])

    def _is_suspect(self, record: LaneRecord) -> bool:
        """Whether nobody has checked the commit that the attempt began with, as after a commit of a person."""
        return self._branch.refs.facts(record.base)[0][0] not in self._shared.lanes.green

    def _start_landing(self) -> None:
        """Merge and check what is ready, unless that is being done or a task has to land alone."""
        if self._is_landing:
            return
        active = self._shared.lanes.active
        if self._suspects:
            self._is_landing = True
            record, tasks = self._shared.record(self._suspects.pop(0)), self._tasks_by_id()
            self._begin_thread(lambda: self._check_base(record, tasks), "samuel-landing")
            return
        ready = [record for record in active.values() if record.result is not None and record.result.work]
        if self._reason is ExitReason.BASE_BROKEN or not ready:
            return
        if lone := [record for record in active.values() if record.exclusive]:
            ready = [record for record in ready if record is lone[0]]
            if not ready:
                return
        tasks = self._tasks_by_id()
        ready = [record for record in self._decided_by_person(ready, tasks) if record.task in tasks]
        if not ready:
            return
        try:
            tip = self._branch.tip()
        except RunStopped as stopped:
            self._stopped(stopped)
            return
        ready.sort(key=lambda record: record.iteration)
        self._is_landing = True
        self._place.watch(LandingStarted(tuple(record.task for record in ready), len(active) - len(ready)))
        run, green = self._shared.run, self._shared.lanes.green
        self._merging.branch = self._branch.name
        self._begin_thread(lambda: self._prepare(run, ready, tasks, tip, green), "samuel-landing")

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
                self._settle([Settled(record, settlement)])
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
    ) -> Message:
        try:
            own = [record.result.tree for record in ready if record.result]
            return LandingEnded(self._merging.prepare(run, ready, tasks, tip, (*green, *own)))
        except BaseException as error:  # noqa: BLE001  the coordinator raises it, or ends the run
            return LandingEnded(error=error)

    def _check_base(self, record: LaneRecord, tasks: Mapping[str, Task]) -> Message:
        try:
            tree = self._branch.refs.facts(record.base)[0][0]
            _, why = self._merging.check(self._shared.run, record.base, (), tasks)
            return BaseChecked(record.task, tree, why)
        except BaseException as error:  # noqa: BLE001  the coordinator raises it, or ends the run
            return BaseChecked(record.task, error=error)

    def _base_checked(self, message: BaseChecked) -> None:
        self._is_landing = False
        record = self._shared.record(message.task)
        if message.why:
            self._base_is_broken(message.why)
            return
        self._add_green(message.tree)
        assert record.result is not None
        self._settle([Settled(record, record.result.settlement, probe=record.task in self._probes)])

    def _base_is_broken(self, why: str) -> None:
        """End: nobody is to blame, so the tasks under way are pending again, and what is ready stays ready."""
        self._note(ExitReason.BASE_BROKEN, f"the checks fail on `{self._branch.name}` itself\n{why}")
        self._place.watch(
            IterationFailed(IterationOutcome.ABORTED, f"the checks fail on `{self._branch.name}` itself\n{why}")
        )
        self._reason = ExitReason.BASE_BROKEN

    def _landing_ended(self, message: LandingEnded) -> None:
        self._is_landing = False
        prepared = message.prepared
        assert prepared is not None
        for denial in prepared.denied:
            self._park(denial)
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
        runs = prepared.runs if prepared.runs is not None else self._passed.get(prepared.landing[0].task)
        if runs is not None:
            self._files.checks.set_verified(runs)
        settled = [
            Settled(record, record.result.settlement, commit, record.task in self._probes)
            for record in prepared.landing
            if record.result
        ]
        tasks = tuple(record.task for record in prepared.landing)
        self._place.watch(WorkLanded(tasks, commit, self._branch.name))
        self._settle(settled, tip=commit, green=prepared.tree)
        event = AfterLand(tasks=list(tasks), commit=commit, branch=self._branch.name)
        fired = self._steps.notify(replace(self._shared.run, iteration=prepared.landing[0].iteration), event)
        if fired.stopped:
            self._shared.update(lambda run: run.complain("after:land", fired.reason))

    def _refuse(self, refusal: Refusal) -> None:
        record, tasks = refusal.record, self._tasks_by_id()
        assert record.result is not None
        self._place.watch(LaneReport(record.lane, IterationFailed(refusal.outcome, refusal.why)))
        ref = self._branch.refs.work_ref(record.task, record.attempt)
        conflicts = self._shared.lanes.conflicts.get(record.task, 0) + 1
        most = self._place.settings.max_task_attempts
        task = tasks[record.task]
        settlement = refused(record, task, refusal.outcome, refusal.why, ref, most, conflicts)
        base = self._branch.refs.facts(record.base)[0][0]
        last = KeptAttempt(record.result.tree, base, ref)
        self._shared.update(lambda run: with_kept(run, record.task, last))
        self._settle([Settled(record, settlement)])

    def _park(self, denial: Denial) -> None:
        """Let the task wait for a person to agree. Its work stays in its ref, and no attempt is counted."""
        record = denial.record
        rows = self._tasks()
        question = Question(
            id=new_id({other.id for row in rows for other in row.questions}),
            text=f"may the work on this task land? {denial.reason}",
            options=(LAND,),
            iteration=record.iteration,
            asked_at=iso(self._place.clock.now()),
        )
        waiting = replace(record, lane=0, question=question.id)
        lanes = self._shared.lanes
        active = {task: other for task, other in lanes.active.items() if task != record.task}
        self._shared.set_lanes(ready={**lanes.ready, record.task: waiting}, active=active)
        self._change(
            lambda rows: [
                parked(row, denial.reason, question)
                if row.id == record.task and row.status == "in_progress"
                else row
                for row in rows
            ]
        )
        self._place.watch(LandingParked(record.task, denial.reason))

    def _settle(self, settled: Sequence[Settled], tip: str = "", green: str = "") -> None:
        """Put what was decided into the task file and the history; then count it, then announce it."""
        self._change(lambda rows: with_results(rows, settled))
        for record, settlement, commit, _ in settled:
            self._probes.discard(record.task)
            ref = settlement.record.ref if settlement.record else ""
            history = self._history.add(settlement, AppliedSettlement(commit, ref))
            if history is not None and (warning := self._spending.add(history)):
                self._place.warn(warning)
            self._reservations.settle(settlement.usage)

        def change(run: Run) -> Run:
            lanes = self._shared.lanes
            if tip:
                trees = dict.fromkeys((*lanes.green, green))
                lanes = replace(lanes, tip=tip, landing=None, green=tuple(trees)[-MOST_GREEN:])
            for record, settlement, *_ in settled:
                last = record.tree.attempts.get(record.task)
                if settlement.outcome is IterationOutcome.COMPLETED:
                    run = with_kept(run, record.task, None)
                elif (
                    last is not None
                    and settlement.outcome is not IterationOutcome.CONFLICT
                    and not (record.result and record.result.work)
                ):
                    run = with_kept(run, record.task, last)
            return counted(run, lanes, settled, landed=bool(tip))

        self._shared.update(change)
        self._announce_settled()

    def _announce_settled(self) -> None:
        for lane, iteration, mode, settlement in self._shared.lanes.unannounced:
            run = replace(self._shared.run, iteration=iteration, mode=mode)
            fired = self._fire_after_iteration(run, settlement, lane)
            if fired.stopped:
                reason = fired.reason
                self._shared.update(partial(Run.complain, event="after:iteration", reason=reason))
        if self._shared.lanes.unannounced:
            self._shared.set_lanes(unannounced=())

    def _failed(self, message: Message, error: BaseException) -> None:
        """A thread could not go on: its task is pending again, and the run ends."""
        if isinstance(message, LandingEnded | BaseChecked):
            self._is_landing = False
        if isinstance(error, RunStopped):
            self._stopped(error)
        elif isinstance(error, SamuelError | OSError):
            why = error.message if isinstance(error, SamuelError) else str(error)
            self._note(ExitReason.ERROR, why)
            self._place.watch(IterationFailed(IterationOutcome.ABORTED, why))
            self._reason = self._reason or ExitReason.ERROR
        else:
            raise error
        if isinstance(message, AttemptEnded):
            self._give_back([message.task])

    def _stopped(self, stopped: RunStopped) -> None:
        self._note(stopped.exit_reason, stopped.why)
        if self._reason is None:
            self._place.watch(IterationFailed(stopped.outcome, stopped.why))
            self._reason = stopped.exit_reason

    # After a kill, and at the end

    def _resume(self) -> None:
        """Carry out what was decided, take over what is ready, and release what came to no decision."""
        lanes = self._shared.lanes
        if (landing := lanes.landing) is not None:
            if self._branch.finish(landing):
                settled = [
                    Settled(record, record.result.settlement, landing.new)
                    for task in landing.tasks
                    if (record := lanes.active.get(task)) and record.result
                ]
                tree = self._branch.refs.facts(landing.new)[0][0]
                self._shared.set_lanes(branch=landing.branch)
                self._settle(settled, tip=landing.new, green=tree)
            else:
                self._shared.set_lanes(landing=None)
        self._announce_settled()
        for record in list(self._shared.lanes.active.values()):
            if record.result is None:
                self._keep_what_is_left(record)
                self._give_back([record.task])
            elif not record.result.work:
                self._settle([Settled(record, record.result.settlement)])
        active = self._shared.lanes.active
        self._change(
            lambda rows: [
                replace(row, status="pending", claimed=False)
                if row.status == "in_progress" and row.id not in active
                else row
                for row in rows
            ],
            sealed=False,
        )

    def _keep_what_is_left(self, record: LaneRecord) -> None:
        """Keep what a killed attempt changed in its lane in a ref."""
        if not record.tree.task:
            return  # its agent had not started
        attempts = self._lanes[record.lane].attempts(self._shared.run.run_id, record.tree)
        with suppress(SamuelError):
            attempts.resume()
            attempts.keep(record.task, record.attempt)
            last = attempts.state.attempts.get(record.task)
            self._shared.update(lambda run: with_kept(run, record.task, last))

    def _take_over_ready(self) -> None:
        """Take the work of earlier runs that is ready: what a person agreed to, or what was not landed in time."""
        lanes, rows = self._shared.lanes, self._tasks_by_id()
        ready = {**(self._earlier.ready if self._earlier else {}), **lanes.ready}
        self._earlier = None
        active, waiting = dict(lanes.active), {}
        for task_id, record in ready.items():
            row = rows.get(task_id)
            if row is None or row.status not in ("pending", "waiting"):
                continue
            answer = next((question.answer for question in row.questions if question.id == record.question), "")
            if row.status == "waiting":
                waiting[task_id] = record
            elif not record.question or answer == LAND:
                active[task_id] = replace(record, lane=0, approved=bool(record.question))
        taken_over = active.keys() - lanes.active.keys()
        self._shared.set_lanes(active=active, ready=waiting)
        self._change(
            lambda rows: [replace(row, status="in_progress") if row.id in taken_over else row for row in rows]
        )

    def _release(self) -> None:
        """At the end: what is not decided is pending again, and work that is ready waits for the next run."""
        lanes = self._shared.lanes
        ready = {
            task: replace(record, lane=0)
            for task, record in lanes.active.items()
            if record.result is not None and record.result.work
        }
        with suppress(SamuelError):
            self._give_back(list(lanes.active), ready)

    def _give_back(self, tasks: Sequence[str], ready: Mapping[str, LaneRecord] | None = None) -> None:
        self._change(
            lambda rows: [
                replace(row, status="pending", claimed=False)
                if row.id in tasks and row.status == "in_progress"
                else row
                for row in rows
            ]
        )
        lanes = self._shared.lanes
        active = {task: record for task, record in lanes.active.items() if task not in tasks}
        for task in tasks:
            last = lanes.active[task].tree.attempts.get(task)
            if last is not None and task not in (ready or {}):
                self._shared.update(partial(with_kept, task=task, last=last))
        self._shared.update(
            lambda run: replace(
                run,
                working=bool(active),
                lanes=replace(self._shared.lanes, active=active, ready={**lanes.ready, **(ready or {})}),
            )
        )

    def _kill_threads(self) -> None:
        """End now: whatever the lanes started is killed until their threads have ended."""
        until = time.monotonic() + 10
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and time.monotonic() < until:
            kill_all()
            alive[0].join(0.05)

    # Details

    def _tasks(self) -> tuple[Task, ...]:
        """The tasks as the seal confirms them."""
        tasks, seal = self._files.tasks.load(), self._place.tasks.seal
        return seal.rebuild(tasks).tasks if seal is not None else tasks

    def _tasks_by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self._tasks()}

    def _change(
        self, function: Callable[[tuple[Task, ...]], Sequence[Task]], *, sealed: bool = True
    ) -> tuple[Task, ...]:
        return self._files.tasks.change(function, trusted=sealed)

    def _add_green(self, tree: str) -> None:
        green = tuple(dict.fromkeys((*self._shared.lanes.green, tree)))
        self._shared.set_lanes(green=green[-MOST_GREEN:])

    def _note(self, exit_reason: ExitReason, why: str) -> None:
        self._shared.update(lambda run: self._note_end(run, exit_reason, why))
