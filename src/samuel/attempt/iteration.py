"""One iteration: a task, a fresh agent, the project's own checks, a verdict.

`_work` reads like the contract. Whatever goes wrong on the way ends in a settlement too: the task goes back to
pending with the reason in its next prompt, or is blocked when it failed too often.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.agents.process_files import written_log
from samuel.attempt.agent_ending import ending_of
from samuel.attempt.agent_turn import AgentTurn
from samuel.attempt.attempt_checks import AttemptChecks, check_names
from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.attempt_tree import MAX_NAMED, AttemptTree
from samuel.attempt.contexts import Contexts
from samuel.attempt.evidence import Evidence
from samuel.attempt.iteration_state import state_of_task
from samuel.attempt.run_files import RunFiles
from samuel.attempt.settlements import Settlements
from samuel.attempt.steps import Steps
from samuel.attempt.stop import AgentTrouble, IterationEnded, RunStopped
from samuel.attempt.workers import CHECK
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectState, RepositoryLost
from samuel.base.printable import file_name
from samuel.bridges.coverage import uncovered
from samuel.checks.attempt_judge import Claim
from samuel.checks.checked_work import checked
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.files import ProtectedFiles
from samuel.checks.judgement import Judgement
from samuel.checks.put_back import PutBack
from samuel.checks.sealed_judge import SealedJudge, sealed_word
from samuel.clients.adapter.ending import AgentEnding, EndingKind
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
from samuel.evidence.check_directory import CheckRoom
from samuel.evidence.claim import Proof
from samuel.evidence.sealed import SealedCheckMissing
from samuel.evidence.task_kind import task_kind
from samuel.evidence.work_tree_room import WorkTreeRoom
from samuel.git.git import GitFailed
from samuel.history.attempts import AttemptChanges
from samuel.history.availability import TROUBLE
from samuel.history.no_task import WITHOUT_TASK, reason_without_task
from samuel.history.notices import AgentEnded, DiscoveryChosen, IterationStarted, LostTests
from samuel.history.run import MAX_FAILURE, Run, Settlement, TaskCells
from samuel.tasks.queue import remaining
from samuel.tasks.task import Task

PUT_BACK = "put back what changed, or start a new run; a hook keeps files of its own in `plugin.data_dir`"

BY_HANDLERS = "handlers of `quality.check` passed it; nothing shows that the task is done"


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
        self._facts = AttemptFacts(place.clock.now(), UNSET if place.lane is None else place.lane)
        self._files_before: ProjectState | None = None  # None until the attempt starts
        self._header_reported = False
        self._passed_runs: tuple[CheckRun, ...] = ()
        self._evidence = Evidence(place, files.tasks, steps.state_files, dry_run=steps.dry_run)
        self._checks = AttemptChecks(place, self._fire_checks, self._check_window, self._check_names)

    def work(self) -> Settlement:
        """Work on the task; what it comes to. Raises RunStopped for what ends the whole run."""
        self._steps.new_iteration(self.run, state_of_task(self._place, self.run, self._task))
        if not self._place.settings.pilot.enabled:  # in pilot mode the gate decides whether there is a task
            self._report_header()
        try:
            self._refuse_tampering()  # in an earlier iteration, or between two: no agent is paid for it
            return self._work()
        except RunStopped:
            self._report_header()
            raise
        except AgentTrouble as trouble:
            return self._settlements.troubled(trouble)
        except IterationEnded as ended:
            self._report_header()
            self._observe()
            return self._settlements.failed(ended.outcome, ended.why)
        except (
            RepositoryLost,
            GitFailed,
            SealedCheckMissing,
        ) as lost:  # every iteration after this one would work without it
            raise RunStopped(IterationOutcome.ABORTED, str(lost), ExitReason.ERROR) from None

    def _work(self) -> Settlement:
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}, usage=self.run.usage))
        self._gate()
        self._report_mode()
        tasks_before = self._take_task()
        accepted = self._task.accepted_by if self._task and self._own_task else ""
        if not accepted:
            self._refuse_spent_task()
        with self._place.git.one_moment():
            is_written = self._start_attempt(accepted=bool(accepted))
            self._files_before = self._files.project.current_state()
            by_git = self._files_before.by_git
            self._files.repository.begin_attempt(by_git.head if by_git else None)
            if accepted:
                return self._take_accepted(tasks_before, accepted)
            if not is_written:
                self._contexts()
        if is_written:  # what git said before is not true any more
            with self._place.git.one_moment():
                self._files_before = self._files.project.current_state()
                self._contexts()
        turn = self._turn()
        answer = turn.work(turn.prepare(), self._changed)
        self._observe()
        self._after_agent(answer)
        self._refuse_tampering()
        self._refuse_unjudged()
        if self.run.mode == "discovery":
            return self._settlements.discovered(self._evidence.new_tasks)
        if settlement := self._settlements.parked():
            return settlement
        self._check()
        self._refuse_tampering()
        has_changes = self._tree is not None and self._tree.has_changes(self._facts.changed)
        return self._settlements.judged(tasks_before, self._passed_runs, has_changes=has_changes)

    def _take_accepted(self, tasks_before: tuple[Task, ...], who: str) -> Settlement:
        """Complete the task with what its last attempt left, which a person accepted: no agent works."""
        assert self._task is not None
        task_id = self._task.id
        self._files.tasks.change(
            lambda tasks: [replace(task, claimed=True) if task.id == task_id else task for task in tasks]
        )
        self._facts.agent_ran = self._steps.agent_started = (
            True  # its work is in the tree, and is settled like any
        )
        self._observe()
        self._check(accepting=who)
        return self._settlements.judged(tasks_before, self._passed_runs, has_changes=True)

    def refused(self, outcome: IterationOutcome, why: str) -> Settlement:
        """The settlement of an attempt that was done, and whose result cannot be taken."""
        return self._settlements.failed(outcome, why)

    @property
    def agent_ran(self) -> bool:
        return self._facts.agent_ran

    def stopped(self, stopped: RunStopped) -> Settlement:
        """The settlement of an attempt that ends the run, since its repository is gone: nothing can be kept."""
        return replace(self._settlements.failed(stopped.outcome, stopped.why), tree="")

    def dry_run(self) -> dict[str, Any]:
        """The same steps without the agent; every handler is told that it is a dry run."""
        self._steps.new_iteration(self.run, state_of_task(self._place, self.run, self._task))
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}, usage=self.run.usage))
        self._gate()
        turn = self._turn()
        self._contexts()
        invocation = turn.prepare()
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
        if discovery:
            self._steps.state = state_of_task(self._place, self.run, None)
        if not discovery and self._task is None:
            exit_reason = reason_without_task(tasks)
            raise RunStopped(IterationOutcome.GATED, WITHOUT_TASK[exit_reason], exit_reason)

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

    def _start_attempt(self, *, accepted: bool) -> bool:
        """Make the work tree what the attempt begins with, and save that before an agent changes it."""
        self._tree = AttemptTree(self._place, self._files, self._task if self._own_task else None, self._commands)
        is_written = self._tree.start(accepted=accepted)
        self._save_tree()
        return is_written

    def _contexts(self) -> None:
        last = self._tree.last_changes() if self._tree and self._own_task else None
        Contexts(self._place, self._steps, self.run, self._task, last).generate()

    def _changed(self) -> list[str]:
        """The files that the agent changed up to now."""
        assert self._tree is not None
        assert self._files_before is not None
        self._facts.changed = self._tree.changed(self._files_before)
        return self._facts.changed

    def _observe(self) -> None:
        """Look at what the agent changed, after it ended."""
        if self._tree is None or not self._steps.agent_started:
            return
        self._tree.observe()
        self._facts.changed_files = self._tree.changed_files
        self._save_tree()

    def _save_tree(self) -> None:
        self.run = self._save(replace(self.run, tree=self._files.attempts.state))

    def _turn(self) -> AgentTurn:
        task = self._task if self._own_task else None
        return AgentTurn(self._place, self._steps, self._files, self.run, task, self._facts, self._evidence)

    def _after_agent(self, answer: Mapping[str, Any]) -> None:
        facts, code = self._facts, int(answer["exit_code"])
        stdout, stderr = str(answer.get("stdout", "")), str(answer.get("stderr", ""))
        facts.exit_code, facts.log = code, self._written_log(str(answer.get("stdout_path") or ""))
        facts.ending = ending_of(answer, changed=bool(facts.changed), now=self._place.clock.now())
        self._place.watch(AgentEnded(code, facts.usage, facts.ending, facts.log, self.run.agent))
        self._fire(
            AfterAgentInvoke(
                exit_code=code, stdout=stdout, stderr=stderr, usage=facts.usage, duration_ms=facts.agent_ms
            )
        )
        is_trouble = facts.ending.kind in (*TROUBLE, EndingKind.OVER_BUDGET)
        if is_trouble and not self._is_decided():
            raise AgentTrouble(facts.ending)
        if code != 0 and not is_trouble:  # what it decided about its task before the trouble counts
            reason = facts.ending.reason or f"the agent ended with exit code {code}"
            output = (stderr or stdout).strip()[-MAX_FAILURE:]
            why = reason if output == reason else f"{reason}\n{output}"
            raise IterationEnded(IterationOutcome.AGENT_FAILED, why.strip())

    def _check(self, accepting: str = "") -> None:
        """No claim counts unless the quality checks pass."""
        if self._steps.dry_run:
            if why := checked(self._checks.all()).other_failures:
                raise IterationEnded(IterationOutcome.QUALITY_FAILED, why)
            return
        assert self._task is not None
        changes = (self._tree.changes if self._tree else None) or AttemptChanges()
        verdict = self._judgement(changes).judge(
            self._task, changes, self.run.tree.verified, self._claim(accepting)
        )
        facts = self._facts
        facts.checks, facts.check_files = list(verdict.checks.records), verdict.check_files
        facts.not_owned = verdict.not_owned
        facts.lost_tests, facts.still_red = verdict.checks.lost_tests, verdict.checks.still_red
        facts.evidence, facts.contested = verdict.evidence, verdict.contested
        if self._tree is not None and self._commands:
            taken_back = self._tree.observe_checks(verdict.changed_by_checks)
            self._save_tree()
            if taken_back and verdict.checks.passed:
                named = ", ".join(f"`{name}`" for name in taken_back[:MAX_NAMED])
                why = f"the checks took back all that the attempt had changed ({named}); they say nothing about it"
                raise IterationEnded(IterationOutcome.QUALITY_FAILED, why)
        if verdict.put_back:
            named = ", ".join(f"`{file_name(path)}`" for path in verdict.put_back[:MAX_NAMED])
            self._files.repository.note(f"tests that you had not committed are as you had them: {named}")
        if verdict.disputed:
            raise IterationEnded(IterationOutcome.DISPUTED, verdict.checks.why)
        if not verdict.checks.passed:
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, verdict.checks.why)
        if verdict.unproven:
            raise IterationEnded(IterationOutcome.UNPROVEN, verdict.unproven)
        if facts.lost_tests:
            self._place.watch(LostTests(self._task.id, facts.lost_tests))
        if facts.evidence and not facts.checks and self._checks.others_ran:
            facts.evidence = replace(facts.evidence, grade="checked", rests_on=BY_HANDLERS)
        is_checked = bool(facts.checks or self._checks.others_ran) and not facts.still_red
        facts.grade = facts.evidence.grade if facts.evidence else "checked" if is_checked else "unverified"
        self._passed_runs = verdict.own_runs

    def _judgement(self, changes: AttemptChanges) -> Judgement:
        settings, files = self._place.settings, self._files
        put_back = PutBack(files.trees, files.attempts, self._save_tree) if files.trees else None
        room: CheckRoom | None = files.room
        if room is None and files.trees is not None and changes.tree:
            room = WorkTreeRoom(files.trees, files.attempts, changes.tree, self._save_tree)
        room = room if changes.tree else None
        word = sealed_word(settings.sandbox.kind, is_clean=room is not None and room.is_clean)
        sealed = SealedJudge(self._place.sealed_checks, self._checks.sealed, word)
        runs = CornerRuns(
            put_back,
            room,
            files.checks,
            self._checks,
            self._place.watch,
            sealed=sealed,
            canary=settings.canary,
        )
        protect = ProtectedFiles(settings.protect, settings.protect_existing)
        return Judgement(files.trees, files.checks, self._commands, protect, runs)

    def _claim(self, accepting: str) -> Claim | None:
        """What is asked of the claim; None if the agent did not claim its task."""
        task = self._settlements.current(self._files.tasks.load())
        if task is None or not task.claimed or task.status != "in_progress":
            return None
        policies: dict[str, Proof] = {"none": "off", "require": "require", "ask": "ask", "off": "off"}
        proof = policies[task.proof or self._place.settings.proof]
        is_last = task.attempts + 1 >= self._place.settings.max_task_attempts
        return Claim(proof, task_kind(task.kind, task.title) or "", task.sent_back, accepting, is_last)

    def _fire_checks(self) -> Fired:
        task = self._task.plain() if self._task else {}
        return self._steps.ask(self.run, QualityCheck(commands=self._commands, task=task))

    def _check_names(self) -> dict[str, str]:
        return check_names(self.run, self._own_task, self._place.root)

    @contextmanager
    def _check_window(self) -> Iterator[None]:
        """Watch what a check does to the state of the run and to the repository."""
        with self._evidence.window(self.run, "check"), self._repository_window():
            yield

    def _repository_window(self) -> AbstractContextManager[None]:
        if self._steps.dry_run:
            return nullcontext()
        return self._files.repository.open(self.run, CHECK, self._files.work_tree)

    @property
    def _commands(self) -> list[str]:
        own = self._task.checks if self._task else ()
        return [*self._place.settings.quality_checks, *own]

    # Details

    def _is_decided(self) -> bool:
        """Whether the agent has claimed its task, skipped or blocked it, or asked about it."""
        task = self._settlements.current(self._files.tasks.load())
        return task is not None and (task.claimed or task.status != "in_progress")

    def _written_log(self, stdout_path: str) -> str:
        """The log of the agent, relative to the root; "" if it wrote nothing."""
        log = written_log(Path(stdout_path)) if stdout_path else None
        return os.path.relpath(log, self._place.root) if log else ""

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

    def _fire(self, event: Event) -> Fired:
        return self._steps.fire(self.run, event)

    def _notify(self, event: Event) -> Fired:
        return self._steps.notify(self.run, event)

    @property
    def _own_task(self) -> str:
        """The id of the task that the agent may change; "" in discovery."""
        return self._task.id if self._task and self.run.mode == "implementation" else ""

    @property
    def _settlements(self) -> Settlements:
        task = self._task if self._own_task else None
        return Settlements(self._place, self._files, self.run, task, self._facts)

    def _refuse_unjudged(self) -> None:
        """What no hook judged does not count where that is required, nor what changed the hooks themselves."""
        required = self._place.settings.coverage == "required" and not self._place.is_stand_in(self.run.agent)
        if why := uncovered(self._facts.coverage, required=required):
            raise IterationEnded(IterationOutcome.ABORTED, why)

    def _refuse_tampering(self) -> None:
        if changed := self._files.protected.changes():
            named = ", ".join(f"`{name}`" for name in changed[:5])
            why = f"{named} changed during the run, whose rules must stay the same; {PUT_BACK}"
            raise IterationEnded(IterationOutcome.ABORTED, why)
