"""The task list and the counts of a run with lanes: the one place that writes what was decided about a task.

Each decision is in run.json before it is in the task file. Carrying one out again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from msgspec.structs import replace

from samuel.attempt.evidence import report
from samuel.attempt.run_files import RunFiles
from samuel.attempt.workplace import Workplace
from samuel.base.clock import iso
from samuel.base.errors import SamuelError
from samuel.dispatch.record import Fired
from samuel.events.endings import IterationOutcome
from samuel.history.run import LaneRecord, LanesState, Run, Settlement
from samuel.history.spending import Spending
from samuel.run.run_history import RunHistoryWriter
from samuel.run.settling import MOST_GREEN, Settled, counted, parked, with_kept, with_results
from samuel.run.shared_limits import Reservations
from samuel.tasks.answering import LAND
from samuel.tasks.question import Question, new_id
from samuel.tasks.seal import Seal
from samuel.tasks.task import Task
from samuel.workspaces.lanes.merging import Denial
from samuel.workspaces.lanes.run_state import SharedRun
from samuel.workspaces.settle import AppliedSettlement

LAST_ITERATION = 1 << 30  # of a seal that holds for the whole run

Announce = Callable[[Run, Settlement, int], Fired]


class TaskLedger:
    def __init__(
        self,
        place: Workplace,
        files: RunFiles,
        shared: SharedRun,
        history: RunHistoryWriter,
        spending: Spending,
        announce: Announce,
    ) -> None:
        """`announce` fires after:iteration for a settlement in a lane."""
        self._place = place
        self._files = files
        self._shared = shared
        self._history = history
        self._spending = spending
        self._announce = announce
        self.reservations = Reservations(place.settings.budgets)
        self.probes: set[str] = set()  # tasks whose agent tries whether a limit is over

    @contextmanager
    def sealed(self) -> Iterator[None]:
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

    def tasks(self) -> tuple[Task, ...]:
        """The tasks as the seal confirms them."""
        tasks, seal = self._files.tasks.load(), self._place.tasks.seal
        return seal.rebuild(tasks).tasks if seal is not None else tasks

    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks()}

    def take(self, record: LaneRecord) -> tuple[Task, ...]:
        """Give a task to a lane: saved first, then in the task file. Gives the tasks then."""
        active = {**self._shared.lanes.active, record.task: record}

        def change(run: Run) -> Run:
            lanes = replace(self._shared.lanes, active=active)
            return replace(run, iteration=record.iteration, agent=record.agent, working=True, lanes=lanes)

        self._shared.update(change)
        begun = {"status": "in_progress", "claimed": False, "iteration": record.iteration}
        return self._change(lambda rows: [replace(row, **begun) if row.id == record.task else row for row in rows])

    def settle(self, settled: Sequence[Settled], tip: str = "", green: str = "") -> None:
        """Put what was decided into the task file and the history; then count it, then announce it."""
        settled = [entry._replace(probe=entry.record.task in self.probes) for entry in settled]
        self._change(lambda rows: with_results(rows, settled))
        for record, settlement, commit, _ in settled:
            self.probes.discard(record.task)
            ref = settlement.record.ref if settlement.record else ""
            attempt = self._history.add(settlement, AppliedSettlement(commit, ref))
            if attempt is not None and (warning := self._spending.add(attempt)):
                self._place.warn(warning)
            self.reservations.settle(settlement.usage)

        def change(run: Run) -> Run:
            lanes = self._shared.lanes
            if tip:
                trees = dict.fromkeys((*lanes.green, green))
                lanes = replace(lanes, tip=tip, landing=None, green=tuple(trees)[-MOST_GREEN:])
            for record, settlement, *_ in settled:
                last = record.tree.attempts.get(record.task)
                if settlement.outcome is IterationOutcome.COMPLETED:
                    run = with_kept(run, record.task, None)
                elif last is not None and not (record.result and record.result.work):
                    run = with_kept(run, record.task, last)
            return counted(run, lanes, settled, landed=bool(tip))

        self._shared.update(change)
        self.announce()

    def announce(self) -> None:
        """Fire after:iteration for what is settled and was not announced."""
        for lane, iteration, mode, settlement in self._shared.lanes.unannounced:
            fired = self._announce(replace(self._shared.run, iteration=iteration, mode=mode), settlement, lane)
            if fired.stopped:
                self._shared.update(partial(Run.complain, event="after:iteration", reason=fired.reason))
        if self._shared.lanes.unannounced:
            # Usually a task is given out next, and saved. A kill before that announces again, by the same key.
            self._shared.update_later(lambda run: replace(run, lanes=replace(self._shared.lanes, unannounced=())))

    def park(self, denial: Denial) -> None:
        """Let the task wait for a person to agree. Its work stays in its ref, and no attempt is counted."""
        record = denial.record
        question = Question(
            id=new_id({other.id for row in self.tasks() for other in row.questions}),
            text=f"may the work on this task land? {denial.reason}",
            options=(LAND,),
            iteration=record.iteration,
            asked_at=iso(self._place.clock.now()),
        )
        lanes = self._shared.lanes
        active = {task: other for task, other in lanes.active.items() if task != record.task}
        waiting = replace(record, lane=0, question=question.id)
        self._shared.set_lanes(ready={**lanes.ready, record.task: waiting}, active=active)
        self._change(
            lambda rows: [
                parked(row, question) if row.id == record.task and row.status == "in_progress" else row
                for row in rows
            ]
        )

    def take_over_ready(self, earlier: LanesState | None = None) -> None:
        """Take the work of earlier runs that is ready: what a person agreed to, or what was not landed in time."""
        lanes, rows = self._shared.lanes, self.by_id()
        active, waiting = dict(lanes.active), {}
        for task_id, record in {**(earlier.ready if earlier else {}), **lanes.ready}.items():
            row = rows.get(task_id)
            if row is None or row.status not in ("pending", "waiting"):
                continue
            answer = next((question.answer for question in row.questions if question.id == record.question), "")
            if row.status == "waiting":
                waiting[task_id] = record
            elif not record.question or answer == LAND:
                # Other work may have landed since it was done.
                active[task_id] = replace(record, lane=0, approved=bool(record.question), exclusive=False)
        if active == lanes.active and waiting == lanes.ready:
            return
        taken_over = active.keys() - lanes.active.keys()
        self._shared.set_lanes(active=active, ready=waiting)
        self._change(
            lambda rows: [replace(row, status="in_progress") if row.id in taken_over else row for row in rows]
        )

    def give_back(self, tasks: Sequence[str], ready: Mapping[str, LaneRecord] | None = None) -> None:
        """Make tasks pending again that came to no decision; the work in `ready` waits for the next run."""
        self._change(
            lambda rows: [
                replace(row, status="pending", claimed=False)
                if row.id in tasks and row.status == "in_progress"
                else row
                for row in rows
            ]
        )
        lanes, waiting = self._shared.lanes, dict(ready or {})
        for task in tasks:
            last = lanes.active[task].tree.attempts.get(task)
            if last is not None and task not in waiting:
                self._shared.update(partial(with_kept, task=task, last=last))
        active = {task: record for task, record in lanes.active.items() if task not in tasks}
        self._shared.update(
            lambda run: replace(
                run,
                working=bool(active),
                lanes=replace(self._shared.lanes, active=active, ready={**lanes.ready, **waiting}),
            )
        )

    def release_unknown(self) -> None:
        """Make tasks pending again that are in progress and under way nowhere."""
        active = self._shared.lanes.active
        self._files.tasks.change(
            lambda rows: [
                replace(row, status="pending", claimed=False)
                if row.status == "in_progress" and row.id not in active
                else row
                for row in rows
            ]
        )

    def _release(self) -> None:
        """At the end: what is not decided is pending again, and work that is ready waits for the next run."""
        active = self._shared.lanes.active
        ready = {
            task: replace(record, lane=0)
            for task, record in active.items()
            if record.result is not None and record.result.work
        }
        with suppress(SamuelError):  # the task file is broken or gone: the next start releases the tasks
            self.give_back(list(active), ready)

    def _change(self, function: Callable[[tuple[Task, ...]], Sequence[Task]]) -> tuple[Task, ...]:
        return self._files.tasks.change(function, trusted=True)
