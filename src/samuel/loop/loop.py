"""The loop: it takes a task list to done, one fresh agent process at a time.

What holds here whatever the handlers say: the lock, the caps, the counting, reloading and checking the tasks, the
order of the steps, and that after:loop is fired on every way out. A handler can end the loop early, never make it
go on longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from msgspec.structs import replace

from samuel.errors import SamuelError
from samuel.events import AfterIteration, AfterLoop, BeforeLoop
from samuel.files.lock import held
from samuel.loop.evidence import restore, warn
from samuel.loop.iteration import Iteration
from samuel.loop.patient_tasks import PatientTasks
from samuel.loop.run import Run, RunFile, Settlement
from samuel.loop.settle import apply
from samuel.loop.steps import Steps
from samuel.loop.stop import IterationEnded, Stop
from samuel.loop.workplace import Workplace
from samuel.process.live import registered
from samuel.process.tree import end_leftovers
from samuel.tasks.queue import MET, next_task
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task


class Loop:
    def __init__(self, place: Workplace, steps: Steps, stop: Stop, pinned: Mapping[str, Any]) -> None:
        self._place = place
        self._steps = steps
        self._stop = stop
        self._pinned = dict(pinned)
        self._file = RunFile(place.state, place.record, place.disk)

    def run(self, max_iterations: int, agent: str) -> Run:
        """Work until there is a reason to stop. The kernel holds the lock, so it is never left behind."""
        with self._locked():
            run = self._begin(max_iterations, agent)
            reason = "error"
            try:
                with registered(self._place.live, run.run_id):
                    reason = self._work(run)
            except IterationEnded as ended:  # asked to stop while it waited for the task file
                reason = ended.exit_reason
            except KeyboardInterrupt:
                reason = "interrupted"
            finally:
                run = self._end(self._file.last or run, reason)
            return run

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One run at a time. An agent can replace the lock in the state directory, so there is a second one."""
        note = f"samuel run start, {self._place.settings.name}"
        with ExitStack() as locks:
            locks.enter_context(held(self._place.state / "run.lock", note=note))
            if self._place.record is not None:
                with suppress(OSError):  # a home that is read-only: then the first has to do
                    self._place.record.mkdir(parents=True, exist_ok=True, mode=0o700)
                    # Another methodology's run holds it for a moment, to seal these tasks.
                    locks.enter_context(held(self._place.record / "run.lock", wait=5, note=note))
            yield

    def rehearse(self, agent: str) -> dict[str, Any]:
        """One iteration's hooks, told that it is a dry run: no agent starts, nothing changes, nothing counts."""
        run = Run(
            run_id="dry-run",
            methodology=self._place.settings.name,
            agent=agent,
            started_at=self._place.clock.now(),
            max_iterations=1,
            iteration=1,
        )
        said: dict[str, Any] = {"task": "", "mode": run.mode, "agent": agent, "prompt": "", "stopped": ""}
        try:
            self._announce(run)
            self._steps.fire(run, BeforeLoop(prd_path=str(self._place.prd), max_iterations=1))
            task, _ = self._pick()
            said["task"] = task.id if task else ""
            said |= Iteration(self._place, self._steps, run, task).rehearse()
        except IterationEnded as ended:
            said["stopped"] = f"{ended.outcome}: {ended.why}"
        self._steps.last_words(run, AfterLoop(iterations_run=0, exit_reason="max_iterations"))
        return said

    def _work(self, run: Run) -> str:
        """Iterations, until there is a reason to end."""
        run = self._give_back(self._recover(run), self._steps.tasks)
        self._announce(run)
        try:
            # Before any iteration, also where the run goes on in a later one: the same step has the same key.
            before = BeforeLoop(prd_path=str(self._place.prd), max_iterations=run.max_iterations)
            fired = self._steps.fire(replace(run, iteration=0), before)
        except IterationEnded as ended:
            self._place.watch("failed", {"outcome": "aborted", "why": ended.why})
            reason = ended.exit_reason or "strict_failure"
            self._note_end(run, reason, ended.why)
            return reason
        run = self._file.save(replace(run, plugins=dict(fired.context.get("Plugins", {}))))
        while True:
            task, nothing = self._pick()
            if reason := self._enough(run, nothing):
                return reason
            run, reason = self._iterate(run, task)
            if reason:
                return reason

    def _iterate(self, run: Run, task: Task | None) -> tuple[Run, str]:
        """One iteration: worked, settled in writing, announced. A reason to end the loop may come of it."""
        run = self._file.save(run.begin(run.iterations_run + 1))
        iteration = Iteration(self._place, self._steps, run, task)
        try:
            settlement = iteration.work()
        except IterationEnded as ended:
            self._place.watch("failed", {"outcome": ended.outcome, "why": ended.why})
            run = self._give_back(iteration.run, self._steps.tasks)
            run = self._tell(run, Settlement(ended.outcome, failed=False))
            return self._note_end(run, ended.exit_reason, ended.why), ended.exit_reason
        return self._recover(self._file.save(replace(iteration.run, settlement=settlement))), ""

    # Reasons to stop

    def _enough(self, run: Run, nothing: str) -> str:
        """Why to end here: somebody's wish, the work is done, a cap, or `nothing` that could be worked on."""
        settings = self._place.settings
        if self._stop.requested:
            return "interrupted"
        if nothing == "queue_empty":
            return nothing
        if run.iterations_run >= run.max_iterations:
            return "max_iterations"
        if run.consec_fails >= settings.max_consecutive_failures:
            return "consecutive_failures"
        if settings.max_duration is not None and self._place.clock.now() - run.started_at >= settings.max_duration:
            return "budget"
        if run.empty_discoveries >= 2:
            return "discovery_exhausted"
        return nothing

    def _pick(self) -> tuple[Task | None, str]:
        """The next task, or why there is none. Pilot mode goes on without one: it looks for more."""
        tasks = self._steps.tasks.load()
        task = next_task(tasks)
        if task is not None or self._place.settings.pilot.enabled:
            return task, ""
        return None, "queue_empty" if all(task.status in MET for task in tasks) else "tasks_blocked"

    # Beginning, going on, ending

    def _begin(self, max_iterations: int, agent: str) -> Run:
        """A new run, or the one that was killed: it goes on where it was."""
        known, notes = self._file.resumable()
        if notes and known is not None:
            end_leftovers("SAMUEL_RUN_ID", known.run_id)
        for note in notes:
            warn(self._place, note)
        restore(self._place, known)
        if known is not None and not known.over:
            # Its agent may still be at work, and would claim what the next one is about to do.
            end_leftovers("SAMUEL_RUN_ID", known.run_id)
            self._place.watch("resumed", {"run_id": known.run_id, "iteration": known.iteration})
            return self._file.save(replace(known, max_iterations=max_iterations, agent=agent))
        if known is not None:
            self._finish(known)
        run = Run(
            run_id=self._place.clock.new_id("run"),
            methodology=self._place.settings.name,
            agent=agent,
            started_at=self._place.clock.now(),
            max_iterations=max_iterations,
            dirty=self._steps.worktree.not_of_the_run(commit=self._place.settings.commit),
            pinned=self._pinned,
        )
        run = self._file.save(run)
        if self._file.problem:
            warn(self._place, f"there is no record of this run, so it cannot be resumed: {self._file.problem}")
        return run

    def _finish(self, known: Run) -> None:
        """The last run was stopped between a decision and its task: what it decided is done first."""
        try:
            self._recover(known)
        except IterationEnded:  # asked to stop before it began
            raise KeyboardInterrupt from None

    def _recover(self, run: Run) -> Run:
        """Do what was decided and maybe not done, and take back what was begun and not decided."""
        if run.settlement is not None:
            apply(self._place, self._steps.tasks, run)
            run = self._file.save(run.settled())
        if run.unannounced is not None:
            run = self._tell(run, run.unannounced)
            run = self._file.save(replace(run, unannounced=None))
        return run

    def _tell(self, run: Run, settlement: Settlement) -> Run:
        """after:iteration, once the tasks are as they are: nothing it says can change them."""
        tasks = {task.id: task for task in self._steps.tasks.load()}
        task = tasks.get(settlement.task_id)
        plain = task.plain() if task else {}
        event = AfterIteration(task=plain, outcome=settlement.outcome, usage=settlement.usage)
        fired = self._steps.last_words(run, event)
        statuses = [one.status for one in tasks.values()]
        facts = {"task": plain, "outcome": settlement.outcome, "usage": run.usage, "tasks": statuses}
        self._place.watch("settled", facts)
        return self._file.save(run.complain("after:iteration", fired.reason)) if fired.stopped else run

    def _give_back(self, run: Run, tasks: TaskStore | PatientTasks) -> Run:
        """An iteration that came to no decision counts for nothing; its task is pending again."""

        def pending(tasks: tuple[Task, ...]) -> list[Task]:
            return [
                replace(task, status="pending", claimed=False) if task.status == "in_progress" else task
                for task in tasks
            ]

        if any(task.status == "in_progress" for task in tasks.load()):
            tasks.change(pending)
        return self._file.save(replace(run, working=False)) if run.working else run

    def _end(self, run: Run, reason: str) -> Run:
        """after:loop, on every way out. Only then is the run over: one killed in the middle of it goes on here."""
        if run.working and run.settlement is None:
            with suppress(SamuelError):  # the task file is broken or gone: the next start gives it back
                run = self._give_back(run, self._place.tasks)
        ended = AfterLoop(iterations_run=run.iterations_run, exit_reason=reason, usage=run.usage)
        fired = self._steps.last_words(run, ended)
        if fired.stopped:
            run = run.complain("after:loop", fired.reason)
        run = self._file.save(replace(run, exit_reason=reason, working=False))
        facts = {"reason": reason, "iterations": run.iterations_run, "counts": self._counts(), "usage": run.usage}
        self._place.watch("ended", facts)
        return run

    # What is shown and noted, whatever the handlers are

    def _announce(self, run: Run) -> None:
        """What is about to begin, and who answers in the place of whom."""
        tasks = [task.status for task in self._steps.tasks.load()]
        counts = {status: tasks.count(status) for status in ("pending", "completed")}
        self._place.watch("started", {"tasks": tasks, "max": run.max_iterations, **counts})
        self._steps.say_replacements(write=run.iteration == 0)

    def _note_end(self, run: Run, exit_reason: str, why: str) -> Run:
        """Keep why a handler or a fault ended the run: in run.json, and for whoever reads progress.md."""
        if exit_reason == "interrupted":
            return run
        self._steps.write_note(f"[loop.ended] {exit_reason}: {' '.join(why.split())[:500]}")
        return self._file.save(replace(run, exit_message=why))

    def _counts(self) -> dict[str, int]:
        """How many tasks there are of each status; nothing where the task file cannot be read."""
        counts = dict.fromkeys(("completed", "pending", "blocked", "skipped"), 0)
        with suppress(SamuelError):
            for task in self._place.tasks.load():
                counts[task.status] = counts.get(task.status, 0) + 1
        return counts
