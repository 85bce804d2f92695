"""One iteration: a task, a fresh agent, the project's own checks, a verdict.

`_work` reads like the contract. Whatever goes wrong on the way ends in a settlement too: the task goes back to
pending with the reason in its next prompt, or is blocked when it failed too often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.acceptance.author_turn import AuthorTurn
from samuel.attempt.acceptance.task_acceptance import TaskAcceptance
from samuel.attempt.attempt_checks import AttemptChecks, check_names
from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.attempt_tree import MAX_NAMED, AttemptTree
from samuel.attempt.claims import claim_of
from samuel.attempt.contexts import Contexts
from samuel.attempt.evidence import Evidence
from samuel.attempt.green_checks import tell_green_checks
from samuel.attempt.iteration_state import state_of_task
from samuel.attempt.prepare_command import prepare_hint
from samuel.attempt.review.claim_review import ClaimReview
from samuel.attempt.run_files import RunFiles
from samuel.attempt.settlements import Settlements
from samuel.attempt.steps import Steps
from samuel.attempt.stop import AgentTrouble, IterationEnded, RunStopped
from samuel.attempt.turn.agent_turn import AgentTurn
from samuel.attempt.workers import CHECK
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectState, RepositoryLost
from samuel.base.printable import file_name
from samuel.bridges.coverage import uncovered
from samuel.checks.checked_work import checked
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.files import ProtectedFiles
from samuel.checks.judgement import Judgement
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
from samuel.evidence.sealed import SealedCheckMissing
from samuel.git.git import GitFailed
from samuel.history.attempts import ACCEPTANCE, DISCOVERY, NOTHING_LAID, AttemptChanges
from samuel.history.no_task import WITHOUT_TASK, reason_without_task
from samuel.history.notices import DiscoveryChosen, IterationStarted, LostTests
from samuel.history.run import Run, Settlement, TaskCells
from samuel.tasks.queue import remaining
from samuel.tasks.task import Task

PUT_BACK = "put back what changed, or start a new run; a hook keeps files of its own in `plugin.data_dir`"

ACCEPTED_WORK_GONE = "git does not have the work any more that was accepted"
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
        self._acceptance = TaskAcceptance(place, files, task)
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
            if self.run.mode == "acceptance":
                return self._author_turn.failed(ended)
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
        accepted = bool(self._task and self._own_task and self._task.takes_last_attempt)
        if not accepted:
            self._refuse_spent_task()
        with self._place.git.one_moment():
            is_written = self._start_attempt(accepted=accepted)
            self._files_before = self._files.project.current_state()
            by_git = self._files_before.by_git
            self._files.repository.begin_attempt(by_git.head if by_git else None)
            if accepted:
                return self._take_accepted(tasks_before)
            if not is_written:
                self._contexts()
        if is_written:  # what git said before is not true any more
            with self._place.git.one_moment():
                self._files_before = self._files.project.current_state()
                self._contexts()
        if self._task is not None and self._own_task:
            tell_green_checks(self._place, self._checks, self._files.room, self.run, self._task)
        turn = self._turn()
        answer = turn.work(turn.prepare(), self._changed)
        self._observe()
        turn.ended(answer)
        self._refuse_tampering()
        self._refuse_unjudged()
        if self.run.mode == "discovery":
            return self._settlements.discovered(self._evidence.new_tasks)
        if self.run.mode == "acceptance":
            return self._judge_tests()
        if settlement := self._settlements.parked():
            return settlement
        if locked := self._acceptance.locked:
            self._lay(locked.visible)
        self._check()
        self._refuse_tampering()
        has_changes = self._tree is not None and self._tree.has_changes(self._facts.changed)
        return self._settlements.judged(tasks_before, self._passed_runs, has_changes=has_changes)

    def _take_accepted(self, tasks_before: tuple[Task, ...]) -> Settlement:
        """Judge what the last attempt left, which a person accepted or wants to be reviewed: no agent works."""
        assert self._task is not None
        who = "" if self._task.review_waived_by else self._task.accepted_by
        task_id = self._task.id
        self._files.tasks.change(
            lambda tasks: [replace(task, claimed=True) if task.id == task_id else task for task in tasks]
        )
        self._facts.agent_ran = self._steps.agent_started = (
            True  # its work is in the tree, and is settled like any
        )
        if self._tree is not None and self._tree.conflict:
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, self._tree.conflict)
        self._observe()
        if self._files.trees is not None and not self._changes.changes and not self._changes.person:
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, ACCEPTED_WORK_GONE)
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
        if discovery:
            self.run = replace(self.run, mode="discovery")
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
        if self._task_at_hand and (hit := self._place.meter.hit({}, "task")):
            raise AgentTrouble(AgentEnding(EndingKind.OVER_BUDGET, hit.text))

    def _start_attempt(self, *, accepted: bool) -> bool:
        """Make the work tree what the attempt begins with, and save that before an agent changes it."""
        task, acceptance = (self._task, self._acceptance) if self._own_task else (None, None)
        name = ACCEPTANCE if self.run.mode == "acceptance" else DISCOVERY
        laid = acceptance.laid if acceptance else NOTHING_LAID
        is_restart = task is not None and self.run.is_restart_of(task.id)
        self._tree = AttemptTree(self._place, self._files, task, self._commands, name, laid, is_restart=is_restart)
        self._facts.acceptance = acceptance.record if acceptance else None
        is_written = self._tree.start(accepted=accepted)
        self._save_tree()
        return is_written

    def _contexts(self) -> None:
        last = self._tree.last_changes() if self._tree and self._own_task else None
        self._steps.state = replace(self._steps.state, **self._acceptance.prompt_names)
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
        task = self._task_at_hand
        return AgentTurn(self._place, self._steps, self._files, self.run, task, self._facts, self._evidence)

    @property
    def _author_turn(self) -> AuthorTurn:
        return AuthorTurn(self._acceptance, self.run, self._facts, self._settlements)

    def _judge_tests(self) -> Settlement:
        """Lock the acceptance tests that the agent wrote, if they are as they must be."""
        changes = self._changes
        written_tests = self._acceptance.written_tests(changes.tree, self._commands, self._corners(changes))
        self._refuse_tampering()
        return self._author_turn.judged(written_tests)

    def _lay(self, contents: Mapping[str, bytes | None]) -> None:
        """Make the locked tests what they must be, whatever the agent did to them."""
        assert self._tree is not None
        if left := self._tree.lay(contents):
            named = ", ".join(f"`{file_name(path)}`" for path in left[:MAX_NAMED])
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, f"acceptance tests cannot be put back: {named}")
        self._facts.changed_files = self._tree.changed_files
        self._save_tree()

    def _check(self, accepting: str = "") -> None:
        """No claim counts unless the quality checks pass."""
        if self._steps.dry_run:
            if why := checked(self._checks.all()).other_failures:
                raise IterationEnded(IterationOutcome.QUALITY_FAILED, why)
            return
        assert self._task is not None
        changes = self._changes
        locked = self._acceptance.locked
        claim = claim_of(self._settlements.current(self._files.tasks.load()), self._place.settings, accepting)
        verdict = self._judgement(changes).judge(self._task, changes, self.run.tree.verified, claim, locked)
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
            hint = prepare_hint(self._place.settings, self._files.room, changes.paths)
            raise IterationEnded(IterationOutcome.QUALITY_FAILED, verdict.checks.why + hint)
        if verdict.unproven:
            raise IterationEnded(IterationOutcome.UNPROVEN, verdict.unproven)
        if locked is not None and claim is not None:  # the hidden ones are added, and land with the work
            self._lay(locked.contents)
        if facts.lost_tests:
            self._place.watch(LostTests(self._task.id, facts.lost_tests))
        if facts.evidence and not facts.checks and self._checks.others_ran:
            facts.evidence = replace(facts.evidence, grade="checked", rests_on=BY_HANDLERS)
        if facts.evidence:
            environment = self._files.room.environment if self._files.room is not None else ""
            sandbox = self._place.settings.sandbox.kind
            facts.evidence = replace(facts.evidence, sandbox=sandbox, environment=environment)
        is_checked = bool(facts.checks or self._checks.others_ran) and not facts.still_red
        facts.grade = facts.evidence.grade if facts.evidence else "checked" if is_checked else "unverified"
        self._passed_runs = verdict.own_runs
        if claim is not None:
            review = ClaimReview(self._place, self._files, self._steps, facts)
            review.judge(self.run, self._task, self._check_window)

    @property
    def _changes(self) -> AttemptChanges:
        return (self._tree.changes if self._tree else None) or AttemptChanges()

    def _judgement(self, changes: AttemptChanges) -> Judgement:
        settings, files = self._place.settings, self._files
        protect = ProtectedFiles(settings.protect, settings.protect_existing)
        return Judgement(files.trees, files.checks, self._commands, protect, self._corners(changes))

    def _corners(self, changes: AttemptChanges) -> CornerRuns:
        return self._checks.corners(self._files, changes, self._save_tree)

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

    def _report_header(self) -> None:
        """Report which iteration this is: once, before anything else about it."""
        if self._header_reported:
            return
        self._header_reported = True
        run = self.run
        task = self._task_at_hand
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
        """The id of the task that the agent may change; "" if it only looks for tasks, or writes tests."""
        return self._task.id if self._task and self.run.mode == "implementation" else ""

    @property
    def _task_at_hand(self) -> Task | None:
        """The task that the iteration is about; None in discovery."""
        return None if self.run.mode == "discovery" else self._task

    @property
    def _settlements(self) -> Settlements:
        return Settlements(self._place, self._files, self.run, self._task_at_hand, self._facts)

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
