"""The loop: it works on a task list until it is done, with one fresh agent process for each iteration.

No handler can change what is here: the lock, the limits, the counting, reloading and checking the tasks, the order
of the steps, and that after:loop is fired on every way out. A handler can end the loop early, but not extend it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from samuel.attempt import baseline
from samuel.attempt.evidence import restore
from samuel.attempt.iteration import Iteration
from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.questions import asked_question
from samuel.attempt.run_files import RunFiles
from samuel.attempt.steps import NO_TASK, ProgressNote, Steps
from samuel.attempt.stop import IterationEnded, RunStopped, Stop
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import file_name
from samuel.clients.adapter.ending import EndingKind
from samuel.dispatch.record import Fired
from samuel.events import AfterIteration, AfterLoop, BeforeLoop
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.files.lock import held
from samuel.git.git import GitFailed
from samuel.history.attempts import NO_TREE
from samuel.history.availability import AgentChoice, AgentWait, choose
from samuel.history.budgets import NOTHING_ADDED, AddedBudget
from samuel.history.notices import (
    AgentChanged,
    BranchEntered,
    IterationFailed,
    IterationSettled,
    RunEnded,
    RunRefused,
    RunResumed,
    RunStarted,
    WaitStarted,
)
from samuel.history.own_branch import OwnBranch, choose_branch, enter, leave_if_empty
from samuel.history.run import Run, Settlement, own_branch_of
from samuel.history.run_file import RunFile
from samuel.history.spending import Spending
from samuel.process.live import registered
from samuel.process.tree import end_leftovers
from samuel.run.limits import RunLimits
from samuel.run.run_history import RunHistoryWriter
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task
from samuel.workspaces.settle import apply

WAIT_STEP = 1.0  # seconds of a wait after which a request to stop is seen


class Loop:
    def __init__(self, place: Workplace, steps: Steps, stop: Stop, pinned: Mapping[str, Any]) -> None:
        self._place = place
        self._steps = steps
        self._stop = stop
        self._pinned = dict(pinned)
        self._files = RunFiles.pinned(place, stop)
        self._history = RunHistoryWriter(place)
        self._spending = Spending(place.meter, self._history.history, place.clock.now)
        self._file = RunFile(place.state, place.record, place.disk)
        self._limits = RunLimits(place, stop, self._spending, self._file.save)

    def run(self, max_iterations: int, agents: Sequence[str], added_budget: AddedBudget = NOTHING_ADDED) -> Run:
        """Work until there is a reason to end. The kernel holds the lock, so it is never left behind."""
        with self._locked():
            run = self._begin(max_iterations, agents, added_budget)
            reason = ExitReason.ERROR
            try:
                with registered(self._place.live, run.run_id):
                    reason = self._work(run)
            except RunStopped as stopped:  # a stop was requested in before:loop or while it waited for the tasks
                reason = stopped.exit_reason
            except KeyboardInterrupt:
                reason = ExitReason.INTERRUPTED
            finally:
                run = self._end(self._file.last_saved or run, reason)
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
            yield

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
        data: dict[str, Any] = {"task": "", "mode": run.mode, "agent": agent, "prompt": "", "stopped": ""}
        data["exit_reason"] = ""  # why a run would end, if it would not get as far as its first agent
        try:
            self._report_start(run)
            self._steps.fire(run, BeforeLoop(prd_path=str(self._place.prd), max_iterations=1))
            task, _ = self._limits.next_task(self._files.tasks.load())
            data["task"] = task.id if task else ""
            data |= Iteration(self._place, self._steps, self._files, run, task, lambda run: run).dry_run()
        except IterationEnded as ended:
            data["stopped"] = f"{ended.outcome}: {ended.why}"
            data["exit_reason"] = ended.exit_reason if isinstance(ended, RunStopped) else ""
        self._steps.state = NO_TASK
        self._steps.notify(run, AfterLoop(iterations_run=0, exit_reason=ExitReason.MAX_ITERATIONS))
        return data

    def _work(self, run: Run) -> ExitReason:
        """Iterations, until there is a reason to end."""
        run = self._release_task(self._recover(run), self._files.tasks)
        self._report_start(run)
        # Before any iteration, also where the run goes on in a later one: the same step has the same key.
        before = BeforeLoop(prd_path=str(self._place.prd), max_iterations=run.max_iterations)
        fired = self._steps.ask(replace(run, iteration=0), before)
        if fired.stopped:
            self._place.watch(RunRefused(fired.reason))
            self._note_end(run, ExitReason.STRICT_FAILURE, fired.reason)
            return ExitReason.STRICT_FAILURE
        run = self._file.save(replace(run, plugins=dict(fired.context.get("Plugins", {}))))
        while True:
            task, no_task = self._limits.next_task(self._files.tasks.load())
            if reason := self._limits.reason_to_end(run, no_task):
                return reason
            if not run.baseline_done:
                run, why = self._check_baseline(run)
                if why:
                    self._note_end(run, ExitReason.BASELINE_FAILED, why)
                    return ExitReason.BASELINE_FAILED
            choice = choose(run.agents, run.waits, self._place.clock.now(), self._place.settings.max_wait)
            if not choice.agent:
                self._note_end(run, ExitReason.AGENT_UNAVAILABLE, choice.why)
                return ExitReason.AGENT_UNAVAILABLE
            if choice.until:
                self._wait(run, choice)
                continue
            if choice.agent != run.agent and run.agent in run.waits:
                self._place.watch(AgentChanged(choice.agent, f"{run.agent}: {run.waits[run.agent].why}"))
            run, reason = self._iterate(run, task, choice.agent)
            if reason:
                return reason

    def _check_baseline(self, run: Run) -> baseline.CheckedBaseline:
        try:
            run, why = baseline.check_baseline(self._place, self._files, self._steps, run)
        except GitFailed as lost:  # a check removed the repository
            self._note_end(run, ExitReason.ERROR, str(lost))
            raise RunStopped(IterationOutcome.ABORTED, str(lost), ExitReason.ERROR) from None
        self._history.begin(run, self._files)
        return baseline.CheckedBaseline(self._file.save(run), why)

    def _wait(self, run: Run, choice: AgentChoice) -> None:
        """Wait until an agent can be tried again, or a stop is requested. A run that is killed waits on."""
        self._place.watch(WaitStarted(choice.agent, choice.until, choice.why))
        while not self._stop.requested and (left := choice.until - self._place.clock.now()) > 0:
            if self._limits.out_of_time(run):
                return
            self._place.clock.sleep(min(left, WAIT_STEP))

    def _iterate(self, run: Run, task: Task | None, agent: str) -> tuple[Run, ExitReason | None]:
        """One iteration: worked on, settled in writing, announced. It may give a reason to end the run."""
        run = self._file.save(run.begin(run.iterations_run + 1, agent))
        self._spending.begin(run, task)
        iteration = Iteration(self._place, self._steps, self._files, run, task, self._file.save)
        try:
            settlement = iteration.work()
        except RunStopped as stopped:
            if stopped.exit_reason is ExitReason.ERROR and iteration.agent_ran:
                run = self._recover(self._file.save(replace(iteration.run, settlement=iteration.stopped(stopped))))
                return self._note_end(run, stopped.exit_reason, stopped.why), stopped.exit_reason
            self._place.watch(IterationFailed(stopped.outcome, stopped.why))
            run = self._release_task(iteration.run, self._files.tasks)
            run = self._announce(run, Settlement(stopped.outcome, failed=False))
            return self._note_end(run, stopped.exit_reason, stopped.why), stopped.exit_reason
        return self._recover(self._file.save(replace(iteration.run, settlement=settlement))), None

    # Beginning, going on, ending

    def _begin(self, max_iterations: int, agents: Sequence[str], added: AddedBudget) -> Run:
        """A new run, or the one that was killed or ran out of budget: it goes on where it stopped."""
        last_run, notes = self._file.resumable()
        if notes and last_run is not None:
            end_leftovers("SAMUEL_RUN_ID", last_run.run_id)
        for note in notes:
            self._place.warn(note)
        restore(self._place, last_run)
        if last_run is not None:
            if not last_run.over:
                # Its agent may still be at work, and would claim what the next one is about to do.
                end_leftovers("SAMUEL_RUN_ID", last_run.run_id)
            self._files = self._files.of_run(self._place, last_run.run_id, last_run.tree)
            self._files.repository.resume(last_run, self._files.work_tree)
        if last_run is not None and not last_run.over:
            last_run = self._on_branch_again(last_run)
            self._place.watch(RunResumed(last_run.run_id, last_run.iteration))
            if last_run.settlement is None:  # else its attempt was looked at, and may be half put away
                self._files.attempts.resume()
            resumed = replace(last_run, max_iterations=max_iterations, agents=list(agents))
            return self._file.save(replace(resumed.with_budget(added), tree=self._files.attempts.state))
        if last_run is not None:
            last_run = self._finish(last_run)
            if last_run.budget_hit:
                return self._go_on(last_run, max_iterations, agents, added)
        run_id = self._place.clock.new_id("run")
        unfinished = own_branch_of(last_run) if last_run else None
        if unfinished is not None and unfinished.name != self._place.git.branch():
            unfinished = None
        branch = self._choose_branch(run_id, unfinished)  # it may refuse, and then nothing has begun
        self._files = self._files.of_run(self._place, run_id, NO_TREE)
        person = self._take_work_tree(last_run)
        run = Run(
            run_id=run_id,
            methodology=self._place.settings.name,
            agent=agents[0],
            agents=list(agents),
            added_budget=added,
            waits=self._limits_of(last_run),
            started_at=self._place.clock.now(),
            max_iterations=max_iterations,
            dirty=self._excluded_from_commits(person),
            tree=self._files.attempts.state,
            pinned=self._pinned,
        )
        run = self._enter_branch(run, branch, resumed=False)
        if self._files.attempts.unavailable:
            self._place.warn(self._files.attempts.unavailable)
        self._history.begin(run, self._files)
        if self._file.problem:
            self._place.warn(f"there is no record of this run, so it cannot be resumed: {self._file.problem}")
        return run

    def _on_branch_again(self, run: Run) -> Run:
        """The run that goes on, with HEAD on its branch."""
        return self._enter_branch(run, self._choose_branch(run.run_id, run.own_branch or None), resumed=True)

    def _enter_branch(self, run: Run, branch: OwnBranch | None, *, resumed: bool) -> Run:
        """The run with HEAD on its branch. Saved before HEAD moves: a run that is killed between goes on there."""
        run = self._file.save(replace(run, own_branch=branch or UNSET))
        if branch is not None:
            enter(self._place.git, branch, resumed=resumed)
            self._place.watch(BranchEntered(branch.name, branch.origin))
        return run

    def _choose_branch(self, run_id: str, before: OwnBranch | None) -> OwnBranch | None:
        git, make = self._place.git, self._place.settings.branch
        if make and git.is_repository and not git.head():
            self._place.warn("there is no commit yet, so this run makes no branch of its own")
        return choose_branch(git, run_id, before, make=make)

    def _take_work_tree(self, last_run: Run | None) -> tuple[str, ...]:
        """Begin with the work tree as it is; the paths of a person's own changes."""
        return self._files.attempts.begin(last_run.tree if last_run else None)

    def _limits_of(self, last_run: Run | None) -> dict[str, AgentWait]:
        """The usage limits that a run still waited for when it was interrupted."""
        if last_run is None or last_run.exit_reason is not ExitReason.INTERRUPTED:
            return {}
        now, waits = self._place.clock.now(), last_run.waits.items()
        return {agent: wait for agent, wait in waits if wait.kind is EndingKind.LIMITED and wait.until > now}

    def _go_on(self, last_run: Run, max_iterations: int, agents: Sequence[str], added: AddedBudget) -> Run:
        """The run that a budget ended: what it used still counts."""
        last_run = self._on_branch_again(last_run)
        self._place.watch(RunResumed(last_run.run_id, last_run.iteration))
        return self._file.save(
            replace(
                last_run.with_budget(added),
                exit_reason=None,
                exit_message="",
                budget_hit="",
                max_iterations=last_run.counted_iterations + max_iterations,
                agents=list(agents),
                waits={},
            )
        )

    def _finish(self, last_run: Run) -> Run:
        """Carry out what the last run decided, if it was stopped before that was done."""
        try:
            return self._recover(last_run)
        except RunStopped:  # a stop was requested before this run began
            raise KeyboardInterrupt from None

    def _recover(self, run: Run) -> Run:
        """Carry out what was decided and may not be done yet: the settlement, then after:iteration."""
        if run.settlement is not None:
            applied = apply(self._place, self._files, run)
            record = self._history.add(run.settlement, applied)
            if record is not None and (warning := self._spending.add(record)):
                self._place.warn(warning)
            run = self._file.save(replace(run.settled(), tree=self._files.attempts.state))
        if run.unannounced is not None:
            run = self._announce(run, run.unannounced)
            run = self._file.save(replace(run, unannounced=None))
        return run

    def _announce(self, run: Run, settlement: Settlement) -> Run:
        """Fire after:iteration when the tasks are settled: its handlers cannot change the result."""
        fired = self._fire_after_iteration(run, settlement)
        return self._file.save(run.complain("after:iteration", fired.reason)) if fired.stopped else run

    def _fire_after_iteration(self, run: Run, settlement: Settlement, lane: int | UnsetType = UNSET) -> Fired:
        tasks = {task.id: task for task in self._files.tasks.load()}
        task = tasks.get(settlement.task_id)
        event = AfterIteration(
            task=task.plain() if task else {},
            outcome=settlement.outcome,
            usage=settlement.usage,
            question=asked_question(settlement.question),
            lane=lane,
        )
        self._steps.state = state_of_settled(self._place, run, task, settlement)
        fired = self._steps.notify(run, event)
        statuses = tuple(task.status for task in tasks.values())
        self._place.watch(
            IterationSettled(
                run.mode,
                settlement.outcome,
                settlement.new_tasks,
                run.usage,
                statuses,
                task.verified if task else "",
                settlement.record.still_red if settlement.record else (),
            )
        )
        return fired

    def _release_task(self, run: Run, tasks: TaskStore | PatientTasks) -> Run:
        """Take back an iteration that came to no decision: it is not counted, and its task is pending again."""

        def pending(tasks: tuple[Task, ...]) -> list[Task]:
            return [
                replace(task, status="pending", claimed=False) if task.status == "in_progress" else task
                for task in tasks
            ]

        if any(task.status == "in_progress" for task in tasks.load()):
            tasks.change(pending)
        return self._file.save(replace(run, working=False)) if run.working else run

    def _end(self, run: Run, reason: ExitReason) -> Run:
        """Fire after:loop and report, on every way out. Only then is the run over: a kill before resumes here."""
        run = self._observed(run)
        if run.working and run.settlement is None:
            with suppress(SamuelError):  # the task file is broken or gone: the next start releases the task
                run = self._release_task(run, self._place.tasks)
        self._steps.state = NO_TASK
        ended = AfterLoop(iterations_run=run.iterations_run, exit_reason=reason, usage=run.usage)
        fired = self._steps.notify(run, ended)
        if fired.stopped:
            run = run.complain("after:loop", fired.reason)
        run = replace(self._left_empty_branch(run), exit_reason=reason, working=False)
        report = self._history.end(run, self._files.checks)  # a run killed in here writes it once more
        run = self._file.save(run)
        tasks = self._tasks_or_none()
        counts = dict.fromkeys(("completed", "pending", "blocked", "skipped"), 0)
        for task in tasks:
            counts[task.status] = counts.get(task.status, 0) + 1
        message = run.exit_message or run.budget_hit
        branch = own_branch_of(run)
        lost = self._history.lost_tests(run.run_id)
        ended_run = RunEnded(
            reason, run.iterations_run, counts, run.usage, tasks, message, report, lost_tests=lost
        )
        if branch is not None:
            ended_run = dataclasses.replace(ended_run, branch=branch.name, from_branch=branch.from_branch)
        self._place.watch(ended_run)
        return run

    def _left_empty_branch(self, run: Run) -> Run:
        """The run without its branch, if no work came to it: nobody needs a branch that has nothing."""
        with suppress(SamuelError):  # the repository is gone or broken, which was said already
            if run.own_branch and leave_if_empty(self._place.git, run.own_branch):
                return replace(run, own_branch=UNSET)
        return run

    def _observed(self, run: Run) -> Run:
        """The run with what an attempt changed that was cut off: the next run knows whose changes these are."""
        if not run.tree.task:
            return run
        self._files.repository.end_attempt(run, is_completed=False)
        try:
            self._files.attempts.observe()
        except SamuelError as error:
            if self._place.git.index_file.parent.is_dir():  # else the repository is gone, which is said already
                self._place.warn(f"what the last attempt changed is not known: {error.message}")
        return replace(run, tree=self._files.attempts.state)

    def _excluded_from_commits(self, person: Sequence[str]) -> list[str]:
        """The paths that the run must not commit: a person's, or all where an agent may make a repository."""
        if self._files.attempts.unavailable:
            return self._files.project.excluded_from_commits(commit=self._place.settings.commit)
        return [path for path in person if path == file_name(path)]

    # What is reported and noted, whatever the handlers are

    def _report_start(self, run: Run) -> None:
        """Report what is about to begin, and which handlers replace others."""
        statuses = tuple(task.status for task in self._files.tasks.load())
        self._place.watch(RunStarted(statuses, run.max_iterations))
        self._steps.report_replacements(write=run.iteration == 0)

    def _note_end(self, run: Run, exit_reason: ExitReason, why: str) -> Run:
        """Keep why a handler or an error ended the run: in run.json and in progress.md."""
        if exit_reason is ExitReason.INTERRUPTED:
            return run
        self._steps.write_notes(ProgressNote("loop.ended", f"{exit_reason}: {' '.join(why.split())[:500]}"))
        return self._file.save(replace(run, exit_message=why))

    def _tasks_or_none(self) -> tuple[Task, ...]:
        """All tasks; none if the task file cannot be read."""
        with suppress(SamuelError):
            return self._place.tasks.load()
        return ()
