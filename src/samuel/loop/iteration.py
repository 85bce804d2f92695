"""One iteration: a task, a fresh agent, the project's own checks, a verdict.

`_work` reads like the contract. Whatever goes wrong on the way ends in a settlement too: the task goes back to
pending with the reason in its next prompt, or is blocked when it failed too often.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from samuel.agents.ending import AgentEnding, EndingKind
from samuel.clock import iso
from samuel.dispatch.record import Fired
from samuel.events import (
    AfterAgentInvoke,
    AfterIteration,
    BeforeIteration,
    Event,
    IterationGate,
    QualityCheck,
)
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.hooks.handler import Origin
from samuel.loop.agent_ending import ending_of
from samuel.loop.agent_turn import AgentTurn
from samuel.loop.attempt_facts import AttemptFacts
from samuel.loop.attempt_tree import AttemptTree
from samuel.loop.attempts import AttemptChanges
from samuel.loop.availability import TROUBLE, wait_after
from samuel.loop.budgets import BudgetHit
from samuel.loop.checks.judgement import Judgement, checked
from samuel.loop.contexts import Contexts
from samuel.loop.evidence import Evidence
from samuel.loop.questions import new_question
from samuel.loop.reports import AgentEnded, DiscoveryChosen, IterationFailed, IterationStarted, QuestionAsked
from samuel.loop.run import UNCHANGED, Run, Settlement, TaskCells, TreeAction
from samuel.loop.run_files import RunFiles
from samuel.loop.steps import NOTHING_GENERATED, Steps
from samuel.loop.stop import AgentTrouble, IterationEnded, RunStopped, reason_without_task
from samuel.loop.workplace import Workplace
from samuel.loop.worktree import ProjectState, RepositoryLost
from samuel.process.git.git import GitFailed
from samuel.prompts.prompt_context import StateNames
from samuel.tasks.queue import remaining
from samuel.tasks.task import Task

MAX_NAMED = 10
MAX_FAILURE = 4000  # characters of a failure that the next attempt gets to read
UNCHANGED_CLAIM = (
    "the task was claimed, but no file changed; if nothing has to be changed, skip the task with a reason, or "
    "write `Changes: none` below it in the PRD"
)


class Iteration:
    def __init__(
        self,
        place: Workplace,
        steps: Steps,
        files: RunFiles,
        run: Run,
        task: Task | None,
        save: Callable[[Run], Run],
    ) -> None:
        """`save` writes the run to disk: what its work tree is must be known before an agent changes it."""
        self._save = save
        self._tree: AttemptTree | None = None  # None until the attempt starts
        self._place = place
        self._steps = steps
        self._files = files
        self.run = run
        self._task = task
        self._facts = AttemptFacts(place.clock.now())
        self._files_before: ProjectState | None = None  # None until the attempt starts
        self._header_reported = False
        self._checks_ran = False  # those of handlers other than the built-in one
        self._passed_runs: tuple[CheckRun, ...] = ()
        self._evidence = Evidence(place, files.tasks, steps.state_files, dry_run=steps.dry_run)

    def work(self) -> Settlement:
        """Work on the task; what it comes to. Raises RunStopped for what ends the whole run."""
        self._steps.new_iteration(self.run)
        if not self._place.settings.pilot.enabled:  # in pilot mode the gate decides whether there is a task
            self._report_header()
        try:
            self._refuse_tampering()  # in an earlier iteration, or between two: no agent is paid for it
            return self._work()
        except RunStopped:
            self._report_header()
            raise
        except AgentTrouble as trouble:
            return self._troubled(trouble)
        except IterationEnded as ended:
            self._report_header()
            self._observe()
            return self._failed(ended.outcome, ended.why)
        except (RepositoryLost, GitFailed) as lost:  # every iteration after this one would work without it
            raise RunStopped(IterationOutcome.ABORTED, str(lost), ExitReason.ERROR) from None

    def _work(self) -> Settlement:
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}, usage=self.run.usage))
        self._gate()
        self._report_mode()
        tasks_before = self._take_task()
        self._refuse_spent_task()
        with self._place.git.one_moment():
            is_written = self._start_attempt()
            self._files_before = self._files.project.current_state()
            generated = None if is_written else self._contexts()
        if generated is None:  # what git said before is not true any more
            with self._place.git.one_moment():
                self._files_before = self._files.project.current_state()
                generated = self._contexts()
        turn = self._turn()
        answer = turn.work(turn.prepare(generated), self._files_before)
        self._observe()
        self._after_agent(answer)
        self._refuse_tampering()
        if self.run.mode == "discovery":
            return self._discovered()
        if settlement := self._parked():
            return settlement
        self._check()
        self._refuse_tampering()
        return self._judge(tasks_before)

    def dry_run(self) -> dict[str, Any]:
        """The same steps without the agent; every handler is told that it is a dry run."""
        self._steps.new_iteration(self.run)
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}, usage=self.run.usage))
        self._gate()
        turn = self._turn()
        invocation = turn.prepare(Contexts(self._place, self._steps, self.run, self._task).generate())
        prompt = turn.dry_run(invocation)
        stopped = self._dry_run_after_agent()
        task = self._task.plain() if self._task else {}
        self._notify(AfterIteration(task=task, outcome=IterationOutcome.INCOMPLETE, usage={}))
        return {
            "task": self._task.id if self._task else "",
            "mode": self.run.mode,
            "agent": invocation.agent,
            "prompt": prompt,
            "stopped": stopped,
        }

    def _dry_run_after_agent(self) -> str:
        """The steps after the agent; why one of them would have ended the iteration, or ""."""
        try:
            self._fire(AfterAgentInvoke(exit_code=0, stdout="", stderr="", usage={}))
            self._check()
        except RunStopped:
            raise
        except IterationEnded as ended:
            return f"{ended.outcome}: {ended.why}"
        return ""

    # The steps, in the order they are taken

    def _gate(self) -> None:
        """Ask whether to go on, and in which mode. The limits of the run are the loop's own, not the gate's."""
        tasks = self._files.tasks.load()
        gate = IterationGate(
            consec_fails=self.run.consec_fails, queue_size=len(remaining(tasks)), usage=self.run.usage
        )
        fired = self._steps.ask(self.run, gate)
        if fired.stopped:
            raise RunStopped(IterationOutcome.ABORTED, fired.reason, ExitReason.STRICT_FAILURE)
        if not fired.result.get("continue"):
            why = str(fired.result.get("reason") or "the gate ended the run without a reason")
            raise RunStopped(IterationOutcome.GATED, why, ExitReason.GATE_STOP)
        discovery = fired.result.get("mode") == "discovery"
        self.run = replace(self.run, mode="discovery" if discovery else "implementation")
        if not discovery and self._task is None:
            raise RunStopped(IterationOutcome.GATED, "there is no task to implement", reason_without_task(tasks))

    def _take_task(self) -> tuple[Task, ...]:
        """Mark the task as in progress; the tasks as they are then."""
        if self.run.mode == "discovery" or self._steps.dry_run:
            return self._files.tasks.load()
        assert self._task is not None
        task_id = self._task.id
        taken = TaskCells(status="in_progress", claimed=False, iteration=self.run.iteration)
        return self._files.tasks.change(
            lambda tasks: [taken.applied_to(task) if task.id == task_id else task for task in tasks]
        )

    def _refuse_spent_task(self) -> None:
        """Start no agent for a task whose own budget is used up."""
        if self._own_task and (hit := self._place.meter.hit({}, "task")):
            raise AgentTrouble(AgentEnding(EndingKind.OVER_BUDGET, hit.text))

    def _start_attempt(self) -> bool:
        """Make the work tree what the attempt begins with, and save that before an agent changes it."""
        self._tree = AttemptTree(self._place, self._files, self._task if self._own_task else None, self._commands)
        is_written = self._tree.start()
        self.run = self._save(replace(self.run, tree=self._tree.state))
        return is_written

    def _contexts(self) -> StateNames:
        last = self._tree.last_changes() if self._tree else None
        return Contexts(self._place, self._steps, self.run, self._task, last).generate()

    def _observe(self) -> None:
        """Look at what the agent changed, after it ended."""
        if self._tree is None or not self._steps.agent_started:
            return
        self._tree.observe(self._facts.changed)
        self._facts.changed_files = self._tree.changed_files
        self.run = self._save(replace(self.run, tree=self._tree.state))

    def _turn(self) -> AgentTurn:
        task = self._task if self._own_task else None
        return AgentTurn(self._place, self._steps, self._files, self.run, task, self._facts, self._evidence)

    def _after_agent(self, answer: Mapping[str, Any]) -> None:
        facts, code = self._facts, int(answer["exit_code"])
        stdout, stderr = str(answer.get("stdout", "")), str(answer.get("stderr", ""))
        facts.exit_code, facts.log = code, self._below_root(str(answer.get("stdout_path") or ""))
        facts.ending = ending_of(answer, changed=bool(facts.changed), now=self._place.clock.now())
        self._place.watch(AgentEnded(code, facts.usage, facts.ending, facts.log, self.run.agent))
        self._fire(AfterAgentInvoke(exit_code=code, stdout=stdout, stderr=stderr, usage=facts.usage))
        is_trouble = facts.ending.kind in (*TROUBLE, EndingKind.OVER_BUDGET)
        if is_trouble and not self._is_decided():
            raise AgentTrouble(facts.ending)
        if code != 0 and not is_trouble:  # what it decided about its task before the trouble counts
            reason = facts.ending.reason or f"the agent ended with exit code {code}"
            output = (stderr or stdout).strip()[-MAX_FAILURE:]
            why = reason if output == reason else f"{reason}\n{output}"
            raise IterationEnded(IterationOutcome.AGENT_FAILED, why.strip())

    def _check(self) -> None:
        """No claim counts unless the quality checks pass."""
        if self._steps.dry_run:
            if why := checked(self._run_checks()).other_failures:
                raise IterationEnded(IterationOutcome.QUALITY_FAILED, why)
            return
        assert self._task is not None
        settings, files = self._place.settings, self._files
        judgement = Judgement(
            files.trees, files.checks, self._commands, settings.protect, self._run_checks, self._place.watch
        )
        changes = self._tree.changes if self._tree else None
        verdict = judgement.judge(self._task, changes or AttemptChanges(), self.run.tree.verified)
        facts = self._facts
        facts.checks, facts.check_files = list(verdict.checks.records), verdict.check_files
        facts.lost_tests = verdict.checks.lost_tests
        if self._tree is not None and self._commands:
            before = self._files_before
            self._tree.observe_checks(self._files.project.changed(before) if before else ())
            self.run = self._save(replace(self.run, tree=self._tree.state))
        if not verdict.checks.passed:
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, verdict.checks.why)
        facts.verified = "checks" if facts.checks or self._checks_ran else "none"
        self._passed_runs = verdict.own_runs

    def _run_checks(self) -> Fired:
        """Fire quality.check on the work tree as it is."""
        task = self._task.plain() if self._task else {}
        with self._evidence.window(self.run, "check"):
            fired = self._steps.ask(self.run, QualityCheck(commands=self._commands, task=task))
        self._checks_ran = any(call.handler.origin is not Origin.BUILT_IN for call in fired.calls)
        return fired

    @property
    def _commands(self) -> list[str]:
        own = self._task.checks if self._task else ()
        return [*self._place.settings.quality_checks, *own]

    # The verdict

    def _judge(self, tasks_before: tuple[Task, ...]) -> Settlement:
        """The checks passed: completed if the agent claimed it, else not done yet."""
        tasks = self._files.tasks.load()
        task = self._current(tasks)
        if task is None or task.status in ("skipped", "blocked"):  # by the agent, with its reason
            return self._settle(IterationOutcome.INCOMPLETE, failed=False, task=task, tree="put_away")
        if task.claimed and not (task.no_change or self._tree_has_changes):
            return self._failed(IterationOutcome.STALLED, UNCHANGED_CLAIM)
        if task.claimed:
            return self._completed(task)
        if not self._facts.changed and _without_claims(tasks) == _without_claims(tasks_before):
            return self._failed(IterationOutcome.STALLED, "the iteration changed no file and no task")
        why = "the checks passed, but the task was not claimed with `samuel run done`"
        return self._failed(IterationOutcome.INCOMPLETE, why)

    def _completed(self, task: Task) -> Settlement:
        row = TaskCells(
            status="completed",
            claimed=False,
            completed_at=iso(self._place.clock.now()),
            iteration=self.run.iteration,
            last_failure="",
            verified=self._facts.verified,
        )
        self._files.checks.set_verified(self._passed_runs)
        commit = None
        if self._place.settings.commit:
            # The tree that the checks passed on: earlier attempts are part of it, and so is what a formatter
            # among the checks changed.
            person = {*self.run.dirty, *self.run.tree.person}
            commit = [path for path in self._files.project.dirty() if path not in person]
        return self._settle(
            IterationOutcome.COMPLETED, failed=False, task=task, row=row, commit=commit, tree="complete"
        )

    def _discovered(self) -> Settlement:
        new_tasks = self._evidence.new_tasks
        outcome = IterationOutcome.COMPLETED if new_tasks else IterationOutcome.INCOMPLETE
        return self._settle(outcome, failed=False, new_tasks=new_tasks, tree="put_away")

    def _failed(self, outcome: IterationOutcome, why: str) -> Settlement:
        self._place.watch(IterationFailed(outcome, why, self._facts.log))
        task = self._current(self._files.tasks.load()) if self.run.mode == "implementation" else None
        if task is None or task.status != "in_progress":
            return self._settle(outcome, failed=True, task=task, why=why, gave_up=True, tree="put_away")
        self._warn_of_commits()
        # An iteration that failed before the agent started says nothing about the task.
        attempts = task.attempts + 1 if self._facts.agent_ran else task.attempts
        blocked = attempts >= self._place.settings.max_task_attempts
        row = TaskCells(
            status="blocked" if blocked else "pending",
            claimed=False,
            attempts=attempts,
            iteration=self.run.iteration,
            last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
        )
        gave_up = blocked or not self._facts.agent_ran
        tree: TreeAction = "put_away" if blocked else "keep"
        return self._settle(outcome, failed=True, task=task, row=row, why=why, gave_up=gave_up, tree=tree)

    def _warn_of_commits(self) -> None:
        """Name the commits that the agent of a failed attempt made itself: they stay on the branch."""
        before = self._files_before.by_git if self._files_before else None
        if before is None or not self._facts.agent_ran:
            return
        with suppress(GitFailed):
            head = self._place.git.head()
            if head and head != before.head:
                since = f"{before.head}..{head}" if before.head else head
                log = self._place.git.run("log", "--format=%h %s", f"--max-count={MAX_NAMED}", since)
                commits = "; ".join(log.decode("utf-8", "replace").splitlines()) or f"HEAD is {head[:12]} now"
                self._place.warn(f"this attempt failed, and commits of its agent stay on the branch: {commits}")

    def _parked(self) -> Settlement | None:
        """The settlement of a task whose agent asked a question; None if it asked none."""
        task = self._current(self._files.tasks.load())
        question = new_question(self._task, task) if self._task else None
        if task is None or question is None:
            return None
        self._place.watch(QuestionAsked(task.id, question.text))
        return self._settle(IterationOutcome.ASKED, failed=False, task=task, question=question, tree="put_away")

    def _troubled(self, trouble: AgentTrouble) -> Settlement:
        """The agent could not work, or a budget is used up: the task is pending again, with no attempt more."""
        ending = trouble.ending
        self._place.watch(IterationFailed(trouble.outcome, trouble.why, self._facts.log))
        task = self._current(self._files.tasks.load()) if self.run.mode == "implementation" else None
        under_way = task is not None and task.status == "in_progress"  # the agent may have blocked it before
        row = TaskCells(status="pending", claimed=False) if under_way else UNCHANGED
        if ending.kind is EndingKind.OVER_BUDGET:
            hit = self._place.meter.hit(self._facts.usage) or BudgetHit("run", ending.reason)
            if hit.scope == "task":
                row = TaskCells(status="blocked", claimed=False, last_failure=f"{trouble.outcome}: {hit.text}")
            tree: TreeAction = "put_away" if hit.scope == "task" else ""
            return self._settle(
                trouble.outcome, failed=False, task=task, row=row, why=trouble.why, budget=hit, tree=tree
            )
        now, key = self._place.clock.now(), f"{self.run.run_id}/{self.run.iteration}"
        wait = wait_after(ending, self.run.waits.get(self.run.agent), now, key)
        return self._settle(trouble.outcome, failed=False, task=task, row=row, why=trouble.why, wait=wait)

    def _settle(
        self,
        outcome: IterationOutcome,
        *,
        failed: bool,
        task: Task | None = None,
        row: TaskCells = UNCHANGED,
        why: str = "",
        new_tasks: int = 0,
        **decision: Any,
    ) -> Settlement:
        now = self._place.clock.now()
        if not self._steps.agent_started:
            decision.pop("tree", None)
        return Settlement(
            outcome,
            failed,
            attempt=self._task.attempts + 1 if self._own_task and self._task else self.run.iteration,
            task_id=task.id if task else "",
            row=row,
            usage=self._facts.usage,
            new_tasks=new_tasks,
            agent=self.run.agent if self._facts.agent_ran else "",
            record=self._facts.record(self.run, task, outcome, why, now, new_tasks),
            **decision,
        )

    # Details

    def _is_decided(self) -> bool:
        """Whether the agent has claimed its task, skipped or blocked it, or asked about it."""
        task = self._current(self._files.tasks.load()) if self._own_task else None
        return task is not None and (task.claimed or task.status != "in_progress")

    @property
    def _tree_has_changes(self) -> bool:
        return self._tree is not None and self._tree.has_changes(self._facts.changed)

    def _below_root(self, path: str) -> str:
        return os.path.relpath(path, self._place.root) if path else ""

    def _report_header(self) -> None:
        """Report which iteration this is: once, before anything else about it."""
        if self._header_reported:
            return
        self._header_reported = True
        run = self.run
        task = self._task if run.mode == "implementation" else None
        self._place.watch(IterationStarted(run.iteration, run.max_iterations, run.mode, task))

    def _report_mode(self) -> None:
        if self._header_reported and self.run.mode == "discovery":  # a gate that is not the built-in chose it
            self._place.watch(DiscoveryChosen())
        self._report_header()

    def _fire(self, event: Event, generated: StateNames = NOTHING_GENERATED) -> Fired:
        return self._steps.fire(self.run, event, generated)

    def _notify(self, event: Event) -> Fired:
        return self._steps.notify(self.run, event)

    def _current(self, tasks: tuple[Task, ...]) -> Task | None:
        """The task of this iteration as it is in `tasks`."""
        task_id = self._task.id if self._task else ""
        return next((task for task in tasks if task.id == task_id), None)

    @property
    def _own_task(self) -> str:
        """The id of the task that the agent may change; "" in discovery."""
        return self._task.id if self._task and self.run.mode == "implementation" else ""

    def _refuse_tampering(self) -> None:
        if changed := self._files.protected.changes():
            named = ", ".join(f"`{name}`" for name in changed[:5])
            why = f"{named} changed during the run; an agent may not change the rules that it is judged by"
            raise IterationEnded(IterationOutcome.ABORTED, why)


def _without_claims(tasks: tuple[Task, ...]) -> list[Task]:
    return [replace(task, claimed=False) for task in tasks]
