"""The loop with several agents at once: it gives tasks to lanes, and lands their work.

The thread that runs the loop coordinates: it alone picks tasks, gives out numbers, writes the task file and moves
the branch. Each attempt runs in a thread of its own, and merges are checked in one more. What they find out comes
back as a message. A lane keeps its task until the work has landed or was refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt import baseline, session
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.steps import Steps
from samuel.attempt.stop import RunStopped, Stop
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.base.errors import SamuelError
from samuel.events import BeforeLoop
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.attempts import NO_TREE
from samuel.history.availability import choose
from samuel.history.no_task import reason_without_task
from samuel.history.notices import (
    AgentChanged,
    BranchChosen,
    IterationFailed,
    LaneReport,
    Report,
    RunRefused,
    WaitStarted,
)
from samuel.history.own_branch import OwnBranch, current
from samuel.history.run import AttemptResult, LanesState, Run
from samuel.prompts import progress
from samuel.run.landing import LandingQueue
from samuel.run.ledger import TaskLedger
from samuel.run.loop import Loop
from samuel.run.picking import pick
from samuel.run.recovery import resume
from samuel.run.settling import Settled
from samuel.run.shared_limits import may_start
from samuel.run.starting import AttemptStarter
from samuel.run.threads import (
    AttemptEnded,
    BaseChecked,
    LandingEnded,
    LaneThreads,
    Message,
    PlaceChecked,
)
from samuel.workspaces.fleet.fleet import TROUBLE, Fleet
from samuel.workspaces.fleet.options import FleetOptions
from samuel.workspaces.lanes import person_tree
from samuel.workspaces.lanes.branch import Branch, first_state
from samuel.workspaces.lanes.collect import notes_collected
from samuel.workspaces.lanes.lane import LANDING, Lane, OpenLane
from samuel.workspaces.lanes.merging import Merging
from samuel.workspaces.lanes.run_state import SharedRun
from samuel.workspaces.lanes.shared_refs import SharedRefs

TICK = 1.0  # seconds after which a request to stop and the end of a wait are seen


class LaneOptions(NamedTuple):
    """How a run uses lanes."""

    lanes: int
    directory: Path
    """Where the lanes of this project are."""
    open_lane: OpenLane
    own_branch: bool = False
    fleet: FleetOptions | None = None
    """None: all work is done on this machine."""
    places: tuple[str, ...] = ()
    """Where attempts run, in the words of the user."""


class LaneLoop(Loop):
    def __init__(
        self, place: Workplace, steps: Steps, stop: Stop, pinned: Mapping[str, Any], options: LaneOptions
    ) -> None:
        super().__init__(place, steps, stop, pinned)
        self._options = options
        self._threads = LaneThreads()
        self._display_lock = threading.Lock()
        self._earlier: LanesState | None = None  # of the run before
        self._lanes: dict[int, Lane] = {}
        self._fleet: Fleet | None = None
        self._reason: ExitReason | None = None
        self._waiting_until = 0.0

    # Beginning and ending

    def _take_work_tree(self, last_run: Run | None) -> tuple[str, ...]:
        """A run with lanes leaves the work tree of its user alone."""
        self._earlier = last_run.lanes if last_run and last_run.lanes is not UNSET else None
        return ()

    def _choose_branch(self, run_id: str, before: OwnBranch | None) -> OwnBranch | None:
        """HEAD stays where it is. On the unfinished branch of a run in this work tree, work lands there."""
        return current(self._place.git)

    def _work(self, run: Run) -> ExitReason:
        run = self._recover(run)  # of a run that had no lanes
        # Now, because nobody writes to it: in lanes, agents have a copy of their own.
        progress.rotate(self._place.progress, self._place.state / "archive", self._place.disk)
        if run.lanes is UNSET:
            lanes, why = first_state(
                self._place.git,
                run.run_id,
                self._options.lanes,
                own=self._options.own_branch and not run.own_branch,
            )
            run = self._file.save(replace(run, lanes=lanes, tree=NO_TREE))
            if why:
                self._place.watch(BranchChosen(lanes.branch, why))
        self._shared = SharedRun(run, self._file.save)
        self._branch = Branch(self._place, self._shared, self._options.directory / "merges")
        self._branch.sweep(self._options.directory)
        directory = self._options.directory / "merges"
        self._shared_refs = SharedRefs(self._place, self._shared, self._branch.refs, directory)
        self._ledger = TaskLedger(
            self._place, self._files, self._shared, self._history, self._spending, self._fire_after_iteration
        )
        try:
            self._open_lanes()
            resume(self._shared, self._branch, self._ledger, self._lanes, self._fleet)
            reason = self._loop()
            if gone := self._branch.restore_landed(self._landing.landed):
                self._place.warn(f"the refs of landed tasks were removed, and are there again: {', '.join(gone)}")
            self._mark_source()
            if self._fleet is not None and reason is ExitReason.QUEUE_EMPTY:
                self._fleet.tidy()
            return reason
        except BaseException as error:
            self._threads.kill()
            if isinstance(error, KeyboardInterrupt):
                self._stop_sessions()
            raise
        finally:
            for lane in self._lanes.values():
                lane.close()
            if self._fleet is not None:
                self._fleet.close()

    def _stop_sessions(self) -> None:
        """The person stopped the run: say so to the hooks of the agents that were killed with their lanes."""
        for lane in self._lanes.values():
            if run := lane.steps.open_session:
                files = ProjectFiles(lane.root, lane.place.git)
                session.stop(run.agent, notify=partial(lane.steps.notify, run), changed=files.dirty)

    def _mark_source(self) -> None:
        """Mark the completed tasks in their source, if the user's work tree followed and has all of the work.

        Only now, and without a commit: with a changed file in it the work tree could not follow the branch.
        """
        if person_tree.why_not(self._place.git, self._shared.lanes.branch):
            return
        marks = SourceMarks(self._place)
        done = [task.id for task in self._files.tasks.load() if task.status == "completed"]
        marked = {path for task_id in done for path in marks.write(task_id)}
        changed = {entry.path for entry in self._place.git.status().entries} if marked else set()
        for path in sorted(marked & changed):
            self._place.warn(f"`{path}` has the marks of the completed tasks; commit it")

    def _open_lanes(self) -> None:
        """Make and open all lanes before the first agent starts: a sandbox looks at every git directory."""
        tip = self._branch.tip()
        if not self._place.lanes.setup and (self._place.git.top / ".gitmodules").is_file():
            self._place.warn(
                "the submodules of this repository are empty in lanes; `[lanes] setup` can fetch them: "
                '`setup = "git submodule update --init"`'
            )
        numbers = {LANDING, *range(1, self._options.lanes + 1)}
        numbers |= {record.lane for record in self._shared.lanes.active.values() if not record.place}
        for number in sorted(numbers):
            lane = Lane(number, self._place, self._options.directory, self._files.protected)
            lane.make(tip)
            lane.open(self._options.open_lane, self._watch_of(number))
            self._lanes[number] = lane
        if self._options.fleet is not None:
            first = self._options.lanes + 1
            self._fleet = Fleet(self._place, self._shared, self._options.fleet, first, self._watch_lane)
        slots = self._options.lanes + (self._fleet.slots if self._fleet else 0)
        self._shared.set_lanes(count=slots, places=self._options.places)
        merging = Merging(self._lanes[LANDING], self._branch.refs, self._files.checks)
        self._landing = LandingQueue(
            self._place,
            self._files.checks,
            self._steps,
            self._shared,
            self._branch,
            merging,
            self._ledger,
            self._threads,
            self._stopped,
        )

        self._starter = AttemptStarter(
            self._place,
            self._files.checks,
            self._shared,
            self._branch,
            self._ledger,
            self._threads,
            self._lanes,
            self._options.lanes,
            self._fleet,
            self._stop,
        )

    def _watch_of(self, number: int) -> Callable[[Report], None]:
        return partial(self._watch_lane, number)

    def _watch_lane(self, number: int, report: Report) -> None:
        with self._display_lock:
            self._place.watch(LaneReport(number, report))

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
        with self._ledger.sealed():
            self._ledger.take_over_ready(self._earlier)
            return self._coordinate()

    def _check_baseline_in_lane(self) -> str:
        """Run the checks on the branch as it is; why no agent may start, or ""."""
        if self._shared.run.baseline_done:
            return ""
        tip, lane = self._branch.tip(), self._lanes[LANDING]
        lane.reset(tip)
        tree = self._branch.refs.facts(tip)[0][0]
        files = lane.files(self._shared.run.run_id, {}, self._files.checks, self._stop, tree)
        files = files._replace(checks=self._files.checks)
        lane.give(self._ledger.tasks())
        with notes_collected(lane.place, self._place):
            run, why = baseline.check_baseline(lane.place, files, lane.steps, self._shared.run)
        done = run.baseline_done
        green = (tree,) if done else ()
        self._shared.update(
            lambda run: replace(run, baseline_done=done, lanes=replace(self._shared.lanes, green=green))
        )
        self._history.begin(self._shared.run, self._files)
        return why

    # The loop

    def _coordinate(self) -> ExitReason:
        while True:
            if self._reason is None:
                self._reason = self._start_attempts()
            self._landing.start(halted=self._reason is ExitReason.BASE_BROKEN)
            if self._reason is not None and not self._threads.busy:
                return self._reason
            self._receive()

    def _receive(self) -> None:
        """Wait for a message of a thread, or for a moment."""
        self._shared.flush()
        message = self._threads.receive(TICK)
        self._branch.look_again()
        if message is None:
            return
        if message.error is not None:
            self._failed(message, message.error)
            return
        match message:
            case AttemptEnded():
                self._attempt_ended(message)
            case LandingEnded():
                self._landing.ended(message)
            case BaseChecked():
                self._landing.base_checked(message)
            case PlaceChecked():
                assert self._fleet is not None
                assert message.ready is not None
                self._fleet.checked(message.place, message.ready)

    def _start_attempts(self) -> ExitReason | None:
        """Give tasks to free lanes; a reason to end if nothing more is to be started."""
        while True:
            if self._shared.lanes.ready:
                self._ledger.take_over_ready()
            run, active = self._shared.run, self._shared.lanes.active
            tasks = self._ledger.tasks()
            task = pick(tasks, self._shared.lanes, landing=self._landing.busy)
            no_task = None if task or active else reason_without_task(tasks)
            if reason := self._limits.reason_to_end(run, no_task):
                return reason
            if why := self._check_baseline_in_lane():
                self._note(ExitReason.BASE_BROKEN, why)
                return ExitReason.BASE_BROKEN
            self._starter.check_places()
            lane = self._starter.free_lane()
            if lane is None and not active and self._fleet and (why := self._fleet.why_none()):
                self._note(ExitReason.NO_PLACE, why)
                return ExitReason.NO_PLACE
            if task is None or lane is None:
                return None
            if run.counted_iterations + len(active) >= run.max_iterations:
                return None
            today, reservations = self._spending.today(), self._ledger.reservations
            if active and reservations.spent_with(run.usage, today, len(active), run.added_budget):
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
            self._starter.start(lane, task, choice.agent)

    # What came of it

    def _attempt_ended(self, message: AttemptEnded) -> None:
        result = message.result
        assert result is not None
        result = self._with_notes(result)
        if self._fleet is not None:
            self._fleet.worked(self._shared.record(message.task).place)
        self._landing.passed[message.task] = message.runs
        self._shared.change_active(message.task, result=result)
        if result.work:
            return  # it lands next
        record = self._shared.record(message.task)
        if result.settlement.outcome is IterationOutcome.QUALITY_FAILED and self._landing.suspects(record):
            return  # whether its base is at fault is checked first
        self._ledger.settle([Settled(record, result.settlement)])

    def _with_notes(self, result: AttemptResult) -> AttemptResult:
        """The result with what happened to the repository meanwhile in its record."""
        for note in (shared_notes := self._shared_refs.look()):
            self._place.warn(note)
        notes, self._branch.notes = (*self._branch.notes, *shared_notes), []
        record = result.settlement.record
        if not notes or record is None:
            return result
        record = replace(record, notes=(*record.notes, *notes))
        return replace(result, settlement=replace(result.settlement, record=record))

    def _failed(self, message: Message, error: BaseException) -> None:
        """A thread could not go on: its task is pending again, and the run ends."""
        if isinstance(error, TROUBLE) and self._fleet is not None:
            if isinstance(message, PlaceChecked):
                self._fleet.trouble(message.place, error)
                return
            if isinstance(message, AttemptEnded) and (record := self._shared.record(message.task)).place:
                self._fleet.trouble(record.place, error, record.started_at)
                self._ledger.give_back([message.task])
                return
        if isinstance(message, LandingEnded | BaseChecked):
            self._landing.busy = False
        if isinstance(error, RunStopped):
            self._stopped(error)
        elif isinstance(error, SamuelError | OSError):
            why = error.message if isinstance(error, SamuelError) else str(error)
            self._stopped(RunStopped(IterationOutcome.ABORTED, why, ExitReason.ERROR))
        else:
            raise error
        if isinstance(message, AttemptEnded):
            self._ledger.give_back([message.task])

    def _stopped(self, stopped: RunStopped) -> None:
        self._note(stopped.exit_reason, stopped.why)
        if self._reason is None:
            self._place.watch(IterationFailed(stopped.outcome, stopped.why))
            self._reason = stopped.exit_reason

    # Details

    def _note(self, exit_reason: ExitReason, why: str) -> None:
        self._shared.update(lambda run: self._note_end(run, exit_reason, why))
