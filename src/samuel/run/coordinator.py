"""The coordinator of a run: it works on a task list until that is done, with a fresh agent for each attempt.

No handler can change what is here: the lock, the limits, the counting, reloading and checking the tasks, the order
of the steps, and that after:loop is fired on every way out. A handler can end the run early, but not extend it.

Its thread alone picks tasks, gives out numbers, writes the task file and lands work. In the user's own work tree
an attempt is made in this thread; in lanes and on machines each has a thread of its own, and merges are checked in
one more. What came of it is a message. A task stays under way until its work has landed or was refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from samuel.attempt.acceptance.due import authors, is_due
from samuel.attempt.steps import ProgressNote, Steps
from samuel.attempt.stop import RunStopped, Stop
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.events import BeforeLoop
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.files.lock import held
from samuel.history.availability import AgentChoice, choose
from samuel.history.budgets import NOTHING_ADDED, AddedBudget
from samuel.history.no_task import reason_without_task
from samuel.history.notices import (
    AgentChanged,
    IterationFailed,
    RunRefused,
    RunStarted,
    WaitStarted,
)
from samuel.history.run import Announcement, AttemptUnderWay, Run, RunMode, Settlement
from samuel.history.run_file import RunFile
from samuel.history.run_state import RunState
from samuel.process.live import registered
from samuel.run.beginning import RunBeginning
from samuel.run.dry_run import dry_run
from samuel.run.ending import end_run
from samuel.run.landing import LandingQueue
from samuel.run.ledger import TaskLedger
from samuel.run.limits import RunLimits, may_start
from samuel.run.picking import pick
from samuel.run.project_record import ProjectRecord, save_project
from samuel.run.recovery import carry_out, recover, settle
from samuel.run.rejecting import take_back_rejected
from samuel.run.run_history import RunHistoryWriter
from samuel.run.run_steering import RunSteering
from samuel.run.threads import BaseChecked, LandingEnded, LaneThreads, Message, PlaceChecked
from samuel.tasks.task import Task
from samuel.workspaces.fleet.fleet import TROUBLE
from samuel.workspaces.lanes.lane_workspace import LaneOptions, LaneWorkspace
from samuel.workspaces.own_tree import OwnTree
from samuel.workspaces.workspace import AttemptEnded, AttemptWorkspace

TICK = 1.0  # seconds after which a request to stop and the end of a wait are seen


class Coordinator:
    def __init__(
        self,
        place: Workplace,
        steps: Steps,
        stop: Stop,
        pinned: Mapping[str, Any],
        lanes: LaneOptions | None = None,
    ) -> None:
        """Without `lanes`, one agent at a time works in the user's own work tree."""
        self._place = place
        self._steps = steps
        file = RunFile(place.state, place.record, place.disk)
        self._state = RunState(file.save)
        self._own = OwnTree(place, steps, stop, self._state)
        self._lanes = LaneWorkspace(place, stop, self._state, self._own, lanes) if lanes else None
        self._workspace: AttemptWorkspace = self._lanes or self._own
        self._history = RunHistoryWriter(place)
        files = self._own.files
        self._steering = RunSteering(place, self._state, stop)
        self._ledger = TaskLedger(
            place, steps, files.tasks, self._state, self._history, files.acceptance, self._steering
        )
        self._limits = RunLimits(place, stop, self._ledger.spending, self._state)
        self._beginning = RunBeginning(
            place, file, self._state, self._own, self._workspace, self._ledger, self._history, pinned
        )
        self._threads = LaneThreads()
        self._landing: LandingQueue | None = None
        self._reason: ExitReason | None = None
        self._waiting_until = 0.0  # for an agent
        self._reported_wait = 0.0

    def run(self, max_iterations: int, agents: Sequence[str], added_budget: AddedBudget = NOTHING_ADDED) -> Run:
        """Work until there is a reason to end. The kernel holds the lock, so it is never left behind."""
        with self._locked():
            self._beginning.begin(max_iterations, agents, added_budget)
            reason = ExitReason.ERROR
            try:
                with registered(self._place.live, self._state.run.run_id):
                    reason = self._work()
            except RunStopped as stopped:  # a stop was requested in before:loop or while it waited for the tasks
                reason = self._noted(stopped.exit_reason, stopped.why)
            except KeyboardInterrupt:
                reason = ExitReason.INTERRUPTED
            finally:
                self._own.cut_off()
                self._ledger.release()
                run = end_run(self._place, self._steps, self._state, self._history, self._own.files.checks, reason)
            return run

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One run at a time. An agent can replace the lock in the state directory, so there is a second one."""
        note = f"samuel run start, {self._place.settings.name}"
        with ExitStack() as locks:
            locks.enter_context(held(self._place.state / "run.lock", note=note))
            if self._place.record is not None:
                with suppress(OSError):  # the home directory is read-only: then the first lock has to do
                    self._place.record.mkdir(parents=True, exist_ok=True, mode=0o700)
                    # Another methodology's run holds it for a moment, to seal these tasks.
                    locks.enter_context(held(self._place.record / "run.lock", wait=5, note=note))
                with suppress(OSError):
                    save_project(self._place.record, self._project(), self._place.disk)
            yield

    def _project(self) -> ProjectRecord:
        place = self._place
        return ProjectRecord(str(place.root), str(place.state), place.settings.name)

    def dry_run(self, agent: str) -> dict[str, Any]:
        """Fire the hooks of one iteration as a dry run: no agent starts, nothing changes, nothing is counted."""
        run = Run(
            run_id="dry-run",
            methodology=self._place.settings.name,
            agent=agent,
            agents=[agent],
            started_at=self._place.clock.now(),
            max_iterations=1,
            iteration=1,
        )
        self._report_start(run)
        return dry_run(self._place, self._steps, self._own.files, run)

    def _work(self) -> ExitReason:
        """Attempts, until there is a reason to end."""
        carry_out(self._own, self._ledger, self._state)  # what a run decided that had other workspaces, too
        try:
            self._workspace.open()
            recover(self._workspace, self._own, self._ledger, self._state)
            self._report_start(self._state.run)
            if reason := self._ask_before_loop():
                return reason
            with self._sealed(), self._steering.watched(self._workspace.end):
                reason = self._coordinate()
            if self._lanes is not None:
                self._lanes.finish(reason)
            return reason
        except BaseException as error:
            self._threads.kill()
            if isinstance(error, KeyboardInterrupt) and self._lanes is not None:
                self._lanes.stop_sessions()
            raise
        finally:
            self._workspace.close()

    def _ask_before_loop(self) -> ExitReason | None:
        # Before any iteration, also where the run goes on in a later one: the same step has the same key.
        run = replace(self._state.run, iteration=0)
        event = BeforeLoop(prd_path=str(self._place.prd), max_iterations=run.max_iterations)
        fired = self._steps.ask(run, event)
        if fired.stopped:
            self._place.watch(RunRefused(fired.reason))
            return self._noted(ExitReason.STRICT_FAILURE, fired.reason)
        self._state.set(plugins=dict(fired.context.get("Plugins", {})))
        return None

    def _sealed(self) -> AbstractContextManager[None]:
        """In lanes, agents work on lists of their own: nothing but the coordinator may change that of the run."""
        return self._ledger.sealed() if self._lanes is not None else nullcontext()

    # Scheduling

    def _coordinate(self) -> ExitReason:
        if self._lanes is not None:
            self._landing = LandingQueue(
                self._lanes, self._steps, self._state, self._ledger, self._threads, self._stopped
            )
        while True:
            if self._reason is None:
                self._reason = self._start_attempts()
            if self._landing is not None:
                self._landing.halted |= self._reason is ExitReason.BASELINE_FAILED
                self._landing.start()
            if self._reason is not None and not self._threads.busy:
                self._state.flush()  # else what was announced would be announced again after a kill in after:loop
                return self._reason
            self._wait()

    def _wait(self) -> None:
        """Wait for a message of a thread, or for a moment."""
        self._state.flush()
        if self._waiting_until and not self._threads.busy:
            self._place.clock.sleep(max(0.0, min(self._waiting_until - self._place.clock.now(), TICK)))
        elif message := self._threads.receive(TICK):
            self._received(message)
        if self._lanes is not None:
            self._lanes.branch.look_again()

    def _start_attempts(self) -> ExitReason | None:
        """Begin as many attempts as can be made now; a reason to end if no more are to be begun."""
        while self._reason is None:
            self._waiting_until = 0.0
            self._steering.look()
            if self._landing is None or not self._landing.busy:
                take_back_rejected(self._place, self._state, self._steering, self._ledger, self._own, self._lanes)
            if self._lanes is not None and self._state.lanes.ready:
                self._ledger.take_over_ready()
            task, no_task = self._next_task()
            if reason := self._limits.reason_to_end(no_task):
                return reason
            if self._steering.is_paused:
                return None
            if why := self._check_baseline():
                return self._noted(ExitReason.BASELINE_FAILED, why)
            slot = self._free_slot(discovery=task is None)
            run = self._state.run
            if slot is None and not run.active and (why := self._workspace.why_no_slot()):
                return self._noted(ExitReason.NO_PLACE, why)
            if slot is None or (task is None and run.active) or self._is_all_given_out():
                return None
            mode = self._mode_of(task)
            agents = authors(run.agents) if mode == "acceptance" else run.agents
            chosen = self._steering.agents_for(task, mode, agents)
            choice = choose(chosen, run.waits, self._place.clock.now(), self._place.settings.max_wait)
            if not choice.agent:
                return self._noted(ExitReason.AGENT_UNAVAILABLE, choice.why)
            if not self._can_start(choice):
                return None
            self._start(slot, task, choice.agent, mode)
        return self._reason

    def _mode_of(self, task: Task | None) -> RunMode:
        """What the next agent at a task does: the work, or its acceptance tests before."""
        due = task is not None and is_due(self._place, task, self._own.files.acceptance)
        return "acceptance" if due else "implementation"

    def _next_task(self) -> tuple[Task | None, ExitReason | None]:
        """The next task, or why there is none. Pilot mode goes on without a task: it looks for more."""
        tasks, run = self._ledger.tasks(), self._state.run
        task = pick(tasks, run, landing=self._landing is not None and self._landing.busy)
        if task or run.active or self._place.settings.pilot.enabled:
            return task, None
        return None, reason_without_task(tasks)

    def _check_baseline(self) -> str:
        """Run the checks before the first agent; why no agent may start, or ""."""
        if self._state.run.baseline_done:
            return ""
        run, why = self._workspace.baseline(self._ledger.tasks())
        self._history.begin(run, self._own.files)
        self._state.begin(run)
        return why

    def _free_slot(self, *, discovery: bool) -> int | UnsetType | None:
        if self._lanes is not None and (fleet := self._lanes.fleet) is not None:
            for name in fleet.to_check():  # places that are new, or were lost
                check = partial(fleet.check, name, self._lanes.branch.tip())
                self._threads.begin("check", check, partial(PlaceChecked, name))
        return self._workspace.free_slot(discovery=discovery)

    def _is_all_given_out(self) -> bool:
        """Whether the attempts under way may use up all that is left of the iterations, or of a budget."""
        run, reservations = self._state.run, self._ledger.reservations
        if not run.active:
            return False
        if run.counted_iterations + len(run.active) >= run.max_iterations:
            return True
        today = self._ledger.spending.today()
        return reservations.spent_with(run.usage, today, len(run.active), run.added_budget)

    def _can_start(self, choice: AgentChoice) -> bool:
        """Whether the agent can start now; else it is waited for. Reported when another one takes over."""
        run = self._state.run
        if choice.until:
            if choice.until != self._reported_wait:
                self._reported_wait = choice.until
                self._place.watch(WaitStarted(choice.agent, choice.until, choice.why))
            self._waiting_until = choice.until
            return False
        at_work = [record.agent for record in run.active.values() if record.result is None]
        if not may_start(choice.agent, run.waits, at_work):
            return False
        if choice.agent != run.agent and run.agent in run.waits:
            self._place.watch(AgentChanged(choice.agent, f"{run.agent}: {run.waits[run.agent].why}"))
        return True

    def _start(self, slot: int | UnsetType, task: Task | None, agent: str, mode: RunMode) -> None:
        """Begin an attempt: saved first, then in the task file, then begun."""
        run = self._state.run
        # In lanes a number is never given out twice: another attempt may have settled before one that did not.
        number = (run.iterations_run if slot is UNSET else max(run.iteration, run.iterations_run)) + 1
        record = self._workspace.placed(
            AttemptUnderWay(
                iteration=number,
                task=task.id if task else "",
                attempt=task.attempts + 1 if task else number,
                agent=agent,
                started_at=self._place.clock.now(),
                mode=mode,
                lane=slot,
                probe=agent in run.waits,
                guidance=self._steering.guidance_for(task, self._ledger.tasks()),
            )
        )
        run = self._state.change(lambda run: run.begin(record))
        self._ledger.spending.begin(run, task)
        if self._workspace.inline:
            self._attempt_ended(self._workspace.begin(run, record, task, ())())
            return
        tasks = self._ledger.take(record)
        attempt = self._workspace.begin(run, record, task, tasks)
        self._threads.begin(f"lane-{slot}", attempt, partial(AttemptEnded.of_thread, record.task))

    # What came of it

    def _received(self, message: Message) -> None:
        if isinstance(message, AttemptEnded):
            self._attempt_ended(message)
            return
        assert self._landing is not None
        assert self._lanes is not None
        fleet = self._lanes.fleet
        if isinstance(message, PlaceChecked) and fleet is not None and isinstance(message.error, TROUBLE):
            fleet.trouble(message.place, message.error)
        elif message.error is not None:
            self._landing.busy = self._landing.busy and isinstance(message, PlaceChecked)
            self._landing.halted |= isinstance(message, LandingEnded)
            self._stopped(_as_stop(message.error))
        elif isinstance(message, LandingEnded):
            self._landing.ended(message)
        elif isinstance(message, BaseChecked):
            self._landing.base_checked(message)
        elif fleet is not None and message.ready is not None:
            fleet.checked(message.place, message.ready)

    def _attempt_ended(self, message: AttemptEnded) -> None:
        """Save what was decided, then carry it out: it lands, is settled and announced."""
        record, error = self._state.run.active[message.task], message.error
        if message.result is None:
            assert error is not None
            self._not_decided(record, message, error)
            return
        result = self._workspace.ended(record, message.result)
        record = self._state.set_attempt(message.task, result=result)
        if self._landing is None or not self._landing.takes(record, message.runs):
            settle(self._own, self._ledger, record)
        if error is not None:
            stopped = _as_stop(error)
            self._reason = self._noted(stopped.exit_reason, stopped.why)

    def _not_decided(self, record: AttemptUnderWay, message: AttemptEnded, error: BaseException) -> None:
        """An attempt could not go on: it is not counted, its task is pending again, and as a rule the run ends."""
        if self._lanes is not None and self._lanes.was_trouble(record, error):
            self._ledger.give_back(record.task)
            return
        stopped, settlement = _as_stop(error), Settlement(_as_stop(error).outcome, failed=False)
        if self._reason is None:
            self._place.watch(IterationFailed(stopped.outcome, stopped.why))
        self._ledger.give_back(record.task)
        self._ledger.announce(
            Announcement(iteration=record.iteration, mode=message.mode, settlement=settlement, lane=record.lane)
        )
        self._reason = self._reason or self._noted(stopped.exit_reason, stopped.why)

    def _stopped(self, stopped: RunStopped) -> None:
        """Something other than an attempt ends the run."""
        if self._reason is None:
            self._place.watch(IterationFailed(stopped.outcome, stopped.why))
            self._reason = self._noted(stopped.exit_reason, stopped.why)

    # What is reported and noted, whatever the handlers are

    def _report_start(self, run: Run) -> None:
        """Report what is about to begin, and which handlers replace others."""
        statuses = tuple(task.status for task in self._own.files.tasks.load())
        run_id = "" if self._steps.dry_run else run.run_id
        self._place.watch(RunStarted(statuses, run.max_iterations, run_id))
        self._steps.report_replacements(write=run.iteration == 0)

    def _noted(self, exit_reason: ExitReason, why: str) -> ExitReason:
        """Keep why a handler or an error ended the run, in run.json and in progress.md; gives the reason."""
        if exit_reason is not ExitReason.INTERRUPTED:
            self._steps.write_notes(ProgressNote("loop.ended", f"{exit_reason}: {' '.join(why.split())[:500]}"))
            self._state.set(exit_message=why)
        return exit_reason


def _as_stop(error: BaseException) -> RunStopped:
    """The end of a run because a thread could not go on. Raises the error if it is a bug."""
    if isinstance(error, RunStopped):
        return error
    if isinstance(error, SamuelError | OSError):
        why = error.message if isinstance(error, SamuelError) else str(error)
        return RunStopped(IterationOutcome.ABORTED, why, ExitReason.ERROR)
    raise error
