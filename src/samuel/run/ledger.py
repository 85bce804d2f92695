"""The task list and the counts of a run: the one place that writes what was decided about a task.

Each decision is in run.json before it is in the task file. Carrying one out again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.evidence import report
from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.questions import asked_question
from samuel.attempt.steps import Steps
from samuel.attempt.workplace import Workplace
from samuel.base.clock import iso
from samuel.base.errors import SamuelError
from samuel.dispatch.record import Fired
from samuel.events import AfterIteration
from samuel.events.endings import IterationOutcome
from samuel.history.acceptance_tests import AcceptanceMemory
from samuel.history.notices import IterationSettled
from samuel.history.run import Announcement, AttemptUnderWay, Run, Settlement
from samuel.history.run_state import RunState
from samuel.history.spending import Spending
from samuel.history.steering import Rejection
from samuel.run.limits import Reservations
from samuel.run.run_history import RunHistoryWriter
from samuel.run.run_steering import RunSteering
from samuel.run.settling import Settled, counted, parked, question_in, with_results, without
from samuel.tasks.changes import reject
from samuel.tasks.question import LAND, Question, new_id
from samuel.tasks.seal import Seal
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.lanes.merging import Denial

LAST_ITERATION = 1 << 30  # of a seal that holds for the whole run


def unchanged(run: Run) -> Run:
    return run


class TaskLedger:
    def __init__(
        self,
        place: Workplace,
        steps: Steps,
        tasks: PatientTasks,
        state: RunState,
        history: RunHistoryWriter,
        acceptance: AcceptanceMemory,
        steering: RunSteering,
    ) -> None:
        self._place = place
        self._steps = steps
        self._tasks = tasks
        self._state = state
        self._history = history
        self._acceptance = acceptance
        self._steering = steering
        self.spending = Spending(place.meter, history.history, place.clock.now)
        self.reservations = Reservations(place.settings.budgets)

    @contextmanager
    def sealed(self) -> Iterator[None]:
        """Nothing but the coordinator and people may change the tasks while lanes are at work."""
        seal = Seal(run_id=self._state.run.run_id, iteration=LAST_ITERATION, step="check")
        if why := self._tasks.open_seal(seal):
            self._place.warn(f"the tasks are not sealed on disk, so a kill would lose what they were: {why}")
        try:
            yield
        finally:
            rebuilt = self._place.tasks.close_seal()
            if rebuilt is not None:
                report(self._place, rebuilt, "an agent or a check")

    def tasks(self) -> tuple[Task, ...]:
        """The tasks as a seal confirms them."""
        tasks, seal = self._tasks.load(), self._place.tasks.seal
        return seal.rebuild(tasks).tasks if seal is not None else tasks

    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks()}

    def take(self, record: AttemptUnderWay) -> tuple[Task, ...]:
        """Mark the task of an attempt as in progress; the tasks then."""
        begun = {"status": "in_progress", "claimed": False, "iteration": record.iteration}
        return self._change(lambda rows: [replace(row, **begun) if row.id == record.task else row for row in rows])

    def settle(self, settled: Sequence[Settled], also: Callable[[Run], Run] = unchanged) -> None:
        """Put what was decided into the task file and the history; then count it, then announce it.

        `also` is what else changes in the run with it.
        """
        for _, settlement, _ in settled:
            self._settle_acceptance(settlement)
        self._change(lambda rows: with_results(rows, settled))
        for _, settlement, applied in settled:
            attempt = self._history.add(settlement, applied)
            if attempt is not None and (warning := self.spending.add(attempt)):
                self._place.warn(warning)
            self.reservations.settle(settlement.usage)
        self._steering.deliver((record, settlement) for record, settlement, _ in settled)
        self._state.change(lambda run: also(counted(run, settled)))
        self.announce()

    def _settle_acceptance(self, settlement: Settlement) -> None:
        """Keep the acceptance tests of a task until it is completed."""
        if settlement.acceptance is not None:
            self._acceptance.set(settlement.task_id, settlement.acceptance)
        elif settlement.outcome is IterationOutcome.COMPLETED:
            self._acceptance.forget(settlement.task_id)

    def announce(self, *others: Announcement) -> None:
        """Fire after:iteration for what is settled and was not announced, and for others that are not counted."""
        unannounced = self._state.run.unannounced
        for announcement in (*unannounced, *others):
            fired = _announced(self._place, self._steps, self._tasks.load(), self._state.run, announcement)
            if fired.stopped:
                self._state.change(partial(Run.complain, event="after:iteration", reason=fired.reason))
        if unannounced:
            # Usually a task is given out next, and saved. A kill before that announces again, by the same key.
            self._state.change_later(lambda run: replace(run, unannounced=()))

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
        self._move_to_ready({record.task: replace(record, lane=0, question=question.id)})
        self._change(
            lambda rows: [
                parked(row, question) if row.id == record.task and row.status == "in_progress" else row
                for row in rows
            ]
        )

    def take_over_ready(self) -> None:
        """Take the work of earlier runs that is ready: what a person agreed to, or what was not landed in time."""
        lanes, rows = self._state.lanes, self.by_id()
        taken_over, waiting = {}, {}
        for task_id, record in lanes.ready.items():
            row = rows.get(task_id)
            if row is None or row.status not in ("pending", "waiting"):
                continue
            answer = next((question.answer for question in row.questions if question.id == record.question), "")
            if row.status == "waiting":
                waiting[task_id] = record
            elif not record.question or answer == LAND:
                # Other work may have landed since it was done.
                taken_over[task_id] = replace(record, lane=0, approved=bool(record.question), exclusive=False)
        if waiting == lanes.ready:
            return
        active = {**self._state.run.active, **taken_over}
        self._state.set(active=active, lanes=replace(lanes, ready=waiting))
        self._change(
            lambda rows: [replace(row, status="in_progress") if row.id in taken_over else row for row in rows]
        )

    def reject(self, rejection: Rejection) -> None:
        """Make a completed task pending again, with the reason for its next attempt. Idempotent."""
        words = f"{rejection.who}: {rejection.why}"
        self._change(lambda rows: reject(rows, rejection.task, why=words, commit=rejection.commit))

    def give_back(self, *tasks: str) -> None:
        """Make tasks pending again that came to no decision."""
        self._make_pending(self._tasks, tasks)
        self._state.change(lambda run: without(run, tasks))

    def release_unknown(self) -> None:
        """Make tasks pending again that are in progress and under way nowhere."""
        active = self._state.run.active
        if unknown := [
            row.id for row in self._tasks.load() if row.status == "in_progress" and row.id not in active
        ]:
            self._make_pending(self._tasks, unknown)

    def release(self) -> None:
        """At the end: what is not decided is pending again, and work that is ready waits for the next run.

        A landing that was cut off stays under way: the next start finishes it.
        """
        run = self._state.run
        landing = run.lanes.landing.tasks if run.lanes is not UNSET and run.lanes.landing else ()
        ready = {
            task: replace(record, lane=0)
            for task, record in run.active.items()
            if record.result is not None and record.result.work and task not in landing
        }
        undecided = [task for task, record in run.active.items() if record.result is None]
        if not (ready or undecided):
            return
        with suppress(SamuelError):  # the task file is broken or gone: the next start releases the tasks
            if ready:
                self._move_to_ready(ready)
            self._make_pending(self._place.tasks, [*undecided, *ready])
            self._state.change(lambda run: without(run, undecided))

    def _move_to_ready(self, ready: Mapping[str, AttemptUnderWay]) -> None:
        self._steering.deliver((record, record.result.settlement) for record in ready.values() if record.result)
        lanes = replace(self._state.lanes, ready={**self._state.lanes.ready, **ready})
        self._state.change(lambda run: replace(run.without(*ready), lanes=lanes))

    def _make_pending(self, store: PatientTasks | TaskStore, tasks: Sequence[str]) -> None:
        store.change(
            lambda rows: [
                replace(row, status="pending", claimed=False)
                if row.id in tasks and row.status == "in_progress"
                else row
                for row in rows
            ],
            trusted=True,
        )

    def _change(self, function: Callable[[tuple[Task, ...]], Sequence[Task]]) -> tuple[Task, ...]:
        return self._tasks.change(function, trusted=True)


def _announced(place: Workplace, steps: Steps, tasks: Tasks, run: Run, announcement: Announcement) -> Fired:
    """Fire after:iteration for what is settled: its handlers cannot change the result. Then report it."""
    settlement = announcement.settlement
    task = next((task for task in tasks if task.id == settlement.task_id), None)
    run = replace(run, iteration=announcement.iteration, mode=announcement.mode)
    event = AfterIteration(
        task=task.plain() if task else {},
        outcome=settlement.outcome,
        usage=settlement.usage,
        question=asked_question(question_in(task, settlement.question)),
        lane=announcement.lane,
    )
    steps.state = state_of_settled(place, run, task, settlement)
    fired = steps.notify(run, event)
    place.watch(
        IterationSettled(
            run.mode,
            settlement.outcome,
            settlement.new_tasks,
            run.usage,
            tuple(task.status for task in tasks),
            task.grade if task else "",
            settlement.record.still_red if settlement.record else (),
        )
    )
    return fired
