"""Giving a task to a lane: which lane is free, and an attempt that is saved before its thread begins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.checks.memory import CheckMemory
from samuel.history.run import LaneRecord, Run
from samuel.run.ledger import TaskLedger
from samuel.run.picking import works_alone
from samuel.run.threads import AttemptEnded, LaneThreads, PlaceChecked
from samuel.tasks.task import Task
from samuel.workspaces.fleet.fleet import Fleet
from samuel.workspaces.lanes.attempt import AttemptRequest, work
from samuel.workspaces.lanes.branch import Branch
from samuel.workspaces.lanes.lane import LANDING, Lane
from samuel.workspaces.lanes.run_state import SharedRun


class AttemptStarter:
    def __init__(
        self,
        place: Workplace,
        checks: CheckMemory,
        shared: SharedRun,
        branch: Branch,
        ledger: TaskLedger,
        threads: LaneThreads,
        lanes: Mapping[int, Lane],
        count: int,
        fleet: Fleet | None,
        stop: Stop,
    ) -> None:
        """`lanes` are those of this machine, by number; the first `count` of them get tasks."""
        self._place = place
        self._checks = checks
        self._shared = shared
        self._branch = branch
        self._ledger = ledger
        self._threads = threads
        self._lanes = lanes
        self._count = count
        self._fleet = fleet
        self._stop = stop

    def check_places(self) -> None:
        """Ask the places that are new, or were lost, whether they can work."""
        for name in self._fleet.to_check() if self._fleet else ():
            self._threads.begin(
                "check", partial(self._check_place, name, self._branch.tip()), partial(_place_failed, name)
            )

    def _check_place(self, name: str, base: str) -> PlaceChecked:
        assert self._fleet is not None
        return PlaceChecked(name, self._fleet.check(name, base))

    def free_lane(self) -> int | None:
        taken = {record.lane for record in self._shared.lanes.active.values()}
        numbers = (number for number in range(LANDING + 1, self._count + 1) if number not in taken)
        lane = next(numbers, None)
        return self._fleet.free_lane(taken) if lane is None and self._fleet else lane

    def start(self, lane: int, task: Task, agent: str) -> None:
        """Give the task to the lane: saved first, then in the task file, then begun."""
        run, lanes = self._shared.run, self._shared.lanes
        base = self._branch.tip()
        number = max(run.iteration, run.iterations_run) + 1
        if agent in run.waits:
            self._ledger.probes.add(task.id)
        record = LaneRecord(
            lane=lane,
            iteration=number,
            task=task.id,
            attempt=task.attempts + 1,
            agent=agent,
            base=base,
            started_at=self._place.clock.now(),
            place=self._fleet.place_of(lane) if self._fleet and lane > self._count else "",
            exclusive=works_alone(task.id, lanes),
        )
        tasks = self._ledger.take(record)
        request = AttemptRequest(
            run=replace(self._shared.run, lanes=UNSET),
            task=task,
            tasks=[replace(row, status="pending") if row.id == task.id else row for row in tasks],
            base=base,
            base_tree=self._branch.refs.facts(base)[0][0],
            last_attempts=dict(run.tree.attempts),
            checks=self._checks,
            fresh=lanes.conflicts.get(task.id, 0) > 0,
        )
        self._threads.begin(
            f"lane-{lane}",
            lambda: self._attempt(request, record),
            lambda error: AttemptEnded(task.id, error=error),
        )

    def _attempt(self, request: AttemptRequest, record: LaneRecord) -> AttemptEnded:
        task = request.task.id
        if record.place:
            assert self._fleet is not None
            return AttemptEnded(task, *self._fleet.attempt(request, record))

        def save(run: Run) -> Run:
            self._shared.change_active(task, tree=run.tree)
            return run

        result, runs = work(self._lanes[record.lane], request, self._stop, save)
        return AttemptEnded(task, result, runs)


def _place_failed(name: str, error: BaseException) -> PlaceChecked:
    return PlaceChecked(name, error=error)
