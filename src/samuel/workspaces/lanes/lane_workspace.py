"""Lanes and machines as a workspace: work trees of their own in which agents work at once, beside the user's.

The work of an attempt is in a ref. It lands when the coordinator has merged and checked it, and moved the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt import baseline
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.stop import Stop
from samuel.attempt.turn import session
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.base.errors import SamuelError
from samuel.events.endings import ExitReason
from samuel.git.git import branch_ref
from samuel.history.notices import BranchChosen
from samuel.history.own_branch import OwnBranch, current
from samuel.history.run import AttemptResult, AttemptUnderWay, Run
from samuel.history.run_state import RunState
from samuel.history.tree_state import NO_TREE, TreeState
from samuel.prompts import progress
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.fleet.fleet import TROUBLE, Fleet
from samuel.workspaces.fleet.options import FleetOptions
from samuel.workspaces.lanes import person_tree
from samuel.workspaces.lanes.attempt import AttemptRequest, work
from samuel.workspaces.lanes.branch import Branch, first_state
from samuel.workspaces.lanes.collect import notes_collected
from samuel.workspaces.lanes.lane import LANDING, Lane, LaneReports, OpenLane
from samuel.workspaces.lanes.merging import Merging
from samuel.workspaces.lanes.shared_refs import SharedRefs
from samuel.workspaces.own_tree import OwnTree
from samuel.workspaces.receipt_notes import write_receipts_of_landing
from samuel.workspaces.workspace import AttemptEnded


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


class LaneWorkspace:
    inline = False

    def __init__(self, place: Workplace, stop: Stop, state: RunState, own: OwnTree, options: LaneOptions) -> None:
        self.place = place
        self._stop = stop
        self._state = state
        self._own = own
        self._options = options
        # Machines are given tasks alone, so a run that looks for tasks has a lane here for that.
        self._here = options.lanes or int(place.settings.pilot.enabled)
        self._reports = LaneReports(place.watch)
        self._ready: dict[str, AttemptUnderWay] = {}  # work that earlier runs did not land
        self._tree = NO_TREE  # what earlier runs left of tasks that are not completed
        self._lanes: dict[int, Lane] = {}
        self.fleet: Fleet | None = None

    def choose_branch(self, run_id: str, before: OwnBranch | None) -> OwnBranch | None:
        """HEAD stays where it is. On the unfinished branch of a run in this work tree, work lands there."""
        return current(self.place.git)

    def take_over(self, last_run: Run | None) -> tuple[str, ...]:
        """A run with lanes leaves the work tree of its user alone."""
        if last_run is not None and last_run.lanes is not UNSET:
            left = {
                task: record for task, record in last_run.active.items() if record.result and record.result.work
            }
            self._ready = {**last_run.lanes.ready, **left}  # it may have ended in the middle of a landing
        if last_run is not None:
            self._tree = TreeState(attempts=self._own.files.attempts.existing(last_run.tree.attempts))
        return ()

    # Opening and closing

    def open(self) -> None:
        # Now, because nothing writes to it: in lanes, agents have their own copy.
        progress.rotate(self.place.progress, self.place.state / "archive", self.place.disk)
        run, options = self._state.run, self._options
        if run.lanes is UNSET:
            own = options.own_branch and not run.own_branch
            lanes, why = first_state(self.place, run.run_id, options.lanes, own=own)
            self._state.set(lanes=replace(lanes, ready=self._ready), tree=self._tree)
            if why:
                self.place.watch(BranchChosen(lanes.branch, why))
        directory = options.directory / "merges"
        self.branch = Branch(self.place, self._state, directory)
        self.branch.sweep(options.directory)
        self._shared_refs = SharedRefs(self.place, self._state, self.branch, directory)
        self._open_lanes()
        self.checks = self._own.files.checks
        self.merging = Merging(self._lanes[LANDING], self.branch.refs, self.checks)

    def _open_lanes(self) -> None:
        """Make and open all lanes before the first agent starts: a sandbox looks at every git directory."""
        place, options, tip = self.place, self._options, self.branch.tip()
        if not place.lanes.setup and (place.git.top / ".gitmodules").is_file():
            place.warn(
                "the submodules of this repository are empty in lanes; `[lanes] setup` can fetch them: "
                '`setup = "git submodule update --init"`'
            )
        numbers = {LANDING, *range(1, self._here + 1)}
        active = self._state.run.active.values()
        numbers |= {record.lane for record in active if record.lane is not UNSET and not record.place}
        for number in sorted(numbers):
            lane = Lane(number, place, options.directory, self._own.files.protected)
            lane.make(tip)
            lane.open(options.open_lane, partial(self._reports.report, number))
            self._lanes[number] = lane
        if options.fleet is not None:
            self.fleet = Fleet(place, self._state, options.fleet, self._here + 1, self._reports.report)
        slots = options.lanes + (self.fleet.slots if self.fleet else 0)
        self._state.set_lanes(count=slots, places=options.places)

    def finish(self, reason: ExitReason) -> None:
        """What is to be done when the last work has landed."""
        if gone := self.branch.restore_landed():
            self.place.warn(f"the refs of landed tasks were removed, and are there again: {', '.join(gone)}")
        self._mark_source()
        if self.fleet is not None and reason is ExitReason.QUEUE_EMPTY:
            self.fleet.tidy()

    def _mark_source(self) -> None:
        """Mark what is not marked yet, if the user's work tree followed and has all of the work."""
        branch = self._state.lanes.branch
        if person_tree.why_not(self.place.git, branch, marked=self.branch.marks.paths(self.branch.tip())):
            return
        done = [task.id for task in self._own.files.tasks.load() if task.status == "completed"]
        marked = set(SourceMarks(self.place).write(*done))
        changed = {entry.path for entry in self.place.git.status().entries} if marked else set()
        for path in sorted(marked & changed):
            self.place.warn(f"`{path}` has the marks of the completed tasks; commit it")

    def stop_sessions(self) -> None:
        """The person stopped the run: say so to the hooks of the agents that were killed with their lanes."""
        for lane in self._lanes.values():
            if run := lane.steps.open_session:
                files = ProjectFiles(lane.root, lane.place.git)
                session.stop(run.agent, notify=partial(lane.steps.notify, run), changed=files.dirty)

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.close()
        if self.fleet is not None:
            self.fleet.close()

    # Before an attempt

    def baseline(self, tasks: Tasks) -> baseline.CheckedBaseline:
        """Run the checks on the branch as it is."""
        tip, lane, run = self.branch.tip(), self._lanes[LANDING], self._state.run
        lane.reset(tip)
        tree = self.tree_of(tip)
        files = lane.files(run.run_id, {}, self.checks, self._stop, tree)._replace(checks=self.checks)
        lane.give(tasks)
        with notes_collected(lane.place, self.place):
            checked, why = baseline.check_baseline(lane.place, files, lane.steps, run)
        green = (tree,) if checked.baseline_done else ()
        lanes = replace(self._state.lanes, green=green)
        return baseline.CheckedBaseline(replace(run, baseline_done=checked.baseline_done, lanes=lanes), why)

    def free_slot(self, *, discovery: bool) -> int | None:
        taken = {record.lane for record in self._state.run.active.values() if record.lane is not UNSET}
        last = self._here if discovery else self._options.lanes
        lane = next((number for number in range(LANDING + 1, last + 1) if number not in taken), None)
        return lane if lane is not None or discovery or self.fleet is None else self.fleet.free_lane(taken)

    def why_no_slot(self) -> str:
        return self.fleet.why_none() if self.fleet is not None and not self._options.lanes else ""

    def placed(self, record: AttemptUnderWay) -> AttemptUnderWay:
        lane, place = record.lane, ""
        assert lane is not UNSET
        if self.fleet is not None and lane > self._here:
            place = self.fleet.place_of(lane)
        alone = self._state.lanes.works_alone(record.task)
        return replace(record, base=self.branch.tip(), place=place, exclusive=alone)

    # An attempt

    def begin(
        self, run: Run, record: AttemptUnderWay, task: Task | None, tasks: Tasks
    ) -> Callable[[], AttemptEnded]:
        request = AttemptRequest(
            run=replace(run, lanes=UNSET, active={record.task: record}, unannounced=()),
            task=task,
            tasks=[replace(row, status="pending") if row.id == record.task else row for row in tasks],
            base=record.base,
            base_tree=self.tree_of(record.base),
            last_attempts=dict(run.tree.attempts),
            checks=self.checks,
            acceptance=self._own.files.acceptance.get(record.task),
            fresh=self._state.lanes.conflicts.get(record.task, 0) > 0,
        )
        return partial(self._attempt, request, record)

    def _attempt(self, request: AttemptRequest, record: AttemptUnderWay) -> AttemptEnded:
        if record.place:
            assert self.fleet is not None
            return AttemptEnded(record.task, *self.fleet.attempt(request, record))

        def save(run: Run) -> Run:
            self._state.set_attempt(record.task, tree=run.tree)
            return run

        assert record.lane is not UNSET
        return AttemptEnded(record.task, *work(self._lanes[record.lane], request, self._stop, save))

    def end(self, task: str) -> None:
        if self.fleet is not None:
            self.fleet.end(task)

    def ended(self, record: AttemptUnderWay, result: AttemptResult) -> AttemptResult:
        """The result with what happened to the repository meanwhile in its record."""
        if self.fleet is not None:
            self.fleet.worked(record.place)
        for note in (shared_notes := self._shared_refs.look()):
            self.place.warn(note)
        notes, self.branch.notes = (*self.branch.notes, *shared_notes), []
        entry = result.settlement.record
        if not notes or entry is None:
            return result
        entry = replace(entry, notes=(*entry.notes, *notes))
        return replace(result, settlement=replace(result.settlement, record=entry))

    def write_receipts(self, landed: Sequence[AttemptUnderWay], commit: str, predicate: Mapping[str, Any]) -> None:
        """Give the commits of a landing their receipts, which no agent may change from then on."""
        write_receipts_of_landing(self.place, landed, commit, predicate)
        works = [record.result.work for record in landed if record.result is not None]
        self._shared_refs.expect_receipts([commit, *works])

    def taken_back(self, task: str) -> None:
        """The work on a task was reverted by a commit on the branch: it may land again."""
        self.branch.forget_landed(task)
        self._shared_refs.expect_refs(self.branch.refs.landed_ref(task), branch_ref(self.branch.name))

    def was_trouble(self, record: AttemptUnderWay, error: BaseException) -> bool:
        """Whether a place on other machines was at fault: then it is tried again later."""
        if self.fleet is None or not record.place or not isinstance(error, TROUBLE):
            return False
        self.fleet.trouble(record.place, error, record.started_at)
        return True

    def recover(self, record: AttemptUnderWay) -> AttemptResult | None:
        if record.place and self.fleet is not None:
            return self.fleet.recovered(record)  # what a machine handed over while no coordinator was there
        if record.lane in self._lanes and record.tree.task:  # else its agent had not started
            self._keep_what_is_left(self._lanes[record.lane], record)
        return None

    def _keep_what_is_left(self, lane: Lane, record: AttemptUnderWay) -> None:
        """Keep what a killed attempt changed in its lane in a ref."""
        attempts = lane.attempts(self._state.run.run_id, record.tree)
        try:
            attempts.resume()
            attempts.keep(record.tree.task, record.attempt)
            self._state.set_attempt(record.task, tree=attempts.state)
        except SamuelError:
            return

    def tree_of(self, commit: str) -> str:
        return self.branch.refs.facts(commit)[0][0]
