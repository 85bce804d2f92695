"""What each way of ending an iteration means: for its task, for the work tree, and for what the run counts."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.claims import without_own_files
from samuel.attempt.iteration_state import failure_line
from samuel.attempt.questions import new_question
from samuel.attempt.run_files import RunFiles
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.stop import AgentTrouble
from samuel.attempt.workplace import Workplace
from samuel.base.clock import iso
from samuel.base.wording import plural
from samuel.checks.refusal_texts import for_person
from samuel.clients.adapter.ending import EndingKind
from samuel.events.endings import IterationOutcome
from samuel.events.loop import CheckRun
from samuel.evidence.claim import UNPROVEN
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.availability import wait_after
from samuel.history.budgets import BudgetHit
from samuel.history.notices import AcceptanceWritten, IterationFailed, QuestionAsked, TaskDecided
from samuel.history.run import MAX_FAILURE, UNCHANGED, Run, Settlement, TaskCells, TreeAction
from samuel.receipts.task_receipt import JudgedWork, task_receipt
from samuel.tasks.question import ACCEPT, REFUSE, REVIEW_AGAIN, Question, new_id
from samuel.tasks.task import Task

UNCHANGED_CLAIM = (
    "the task was claimed, but no file changed; if nothing has to be changed, skip the task with a reason, or "
    "write `Changes: none` below it in the PRD"
)


class Settlements:
    """The possible settlements of one iteration; `task` is None for a discovery."""

    def __init__(
        self, place: Workplace, files: RunFiles, run: Run, task: Task | None, facts: AttemptFacts
    ) -> None:
        self._place = place
        self._files = files
        self._run = run
        self._task = task
        self._facts = facts

    def judged(
        self, tasks_before: tuple[Task, ...], passed_runs: tuple[CheckRun, ...], *, has_changes: bool
    ) -> Settlement:
        """The checks passed: completed if the agent claimed it, else not done yet."""
        tasks = self._files.tasks.load()
        task = self.current(tasks)
        if task is None or task.status in ("skipped", "blocked"):  # by the agent, with its reason
            why = self._decided(task) if task else ""
            return self._settle(IterationOutcome.INCOMPLETE, failed=False, task=task, why=why, tree="put_away")
        if task.claimed and not (task.no_change or has_changes):
            return self.failed(IterationOutcome.STALLED, UNCHANGED_CLAIM)
        if task.claimed:
            self._files.checks.set_verified(passed_runs)
            return self._completed(task)
        if not self._facts.changed and _without_claims(tasks) == _without_claims(tasks_before):
            return self.failed(IterationOutcome.STALLED, "the iteration changed no file and no task")
        why = "the checks passed, but the task was not claimed with `samuel run done`"
        return self.failed(IterationOutcome.INCOMPLETE, why)

    def _decided(self, task: Task) -> str:
        """Report that the agent skipped or blocked the task; why it did."""
        self._facts.decided = task.status
        self._place.watch(TaskDecided(task.id, task.status, task.last_failure))
        return task.last_failure

    def _completed(self, task: Task) -> Settlement:
        row = TaskCells(
            status="completed",
            claimed=False,
            completed_at=iso(self._place.clock.now()),
            iteration=self._run.iteration,
            last_failure="",
            grade=self._facts.grade,
            reviewed=self._facts.review.words if self._facts.review else "",
        )
        commit = None
        if self._place.settings.commit:
            # The tree that the checks passed on: earlier attempts are part of it, and so is what a formatter
            # among the checks changed. Git may have been told not to see some of it.
            person = {*self._run.dirty, *self._run.tree.person}
            changed = {*self._files.project.dirty(), *self._files.attempts.changed_names()}
            paths = without_own_files(sorted(changed), self._place.own_files(self._run.agent))
            commit = [path for path in paths if path not in person]
        settlement = self._settle(
            IterationOutcome.COMPLETED, failed=False, task=task, row=row, commit=commit, tree="complete"
        )
        return self._with_receipt(settlement, task)

    def _with_receipt(self, settlement: Settlement, task: Task) -> Settlement:
        """The settlement of a completed task with what its receipt says, which is saved before the commit."""
        trees, state, record = self._files.trees, self._files.attempts.state, settlement.record
        if trees is None or record is None or not state.verified:
            return settlement
        marked = SourceMarks(self._place).files_of(task.id) if self._place.lane is None else set()
        work = JudgedWork(state.left, state.verified, self._facts.not_owned, settlement.commit, sorted(marked))
        predicate = task_receipt(self._place, trees, self._files.room, self._run, task, record, work)
        return replace(settlement, record=replace(record, predicate=predicate))

    def discovered(self, new_tasks: int) -> Settlement:
        outcome = IterationOutcome.COMPLETED if new_tasks else IterationOutcome.INCOMPLETE
        return self._settle(outcome, failed=False, new_tasks=new_tasks, tree="put_away")

    def wrote_tests(
        self, tests: AcceptanceTests, outcome: IterationOutcome = IterationOutcome.INCOMPLETE
    ) -> Settlement:
        """Acceptance tests were written, or not: the task is pending again, with no attempt more."""
        task = self.current(self._files.tasks.load())
        self._place.watch(AcceptanceWritten(task.id if task else "", tests.names, tests.hidden, tests.why))
        row = TaskCells(status="pending", claimed=False) if task and task.status == "in_progress" else UNCHANGED
        why = tests.why or f"{plural(len(tests.names), 'acceptance test')} locked"
        failed = outcome is not IterationOutcome.INCOMPLETE
        return self._settle(outcome, failed=failed, task=task, row=row, why=why, acceptance=tests, tree="drop")

    def failed(self, outcome: IterationOutcome, why: str) -> Settlement:
        if outcome is IterationOutcome.UNPROVEN and not self._requires_proof:
            return self._sent_back(outcome, why)
        if outcome is IterationOutcome.DISPUTED:
            return self._disputed(why)
        if outcome is IterationOutcome.REVIEW_FAILED:
            return self._review_failed(why)
        if outcome is IterationOutcome.REVIEW_UNAVAILABLE:
            text = f"the work on this task passed the checks and was not reviewed: {why}"
            return self._decided_by_person(outcome, why, text, (REVIEW_AGAIN, ACCEPT, REFUSE))
        self._place.watch(IterationFailed(outcome, why, self._facts.log, self._task.id if self._task else ""))
        task = self.current(self._files.tasks.load())
        if task is None or task.status != "in_progress":
            return self._settle(outcome, failed=True, task=task, why=why, gave_up=True, tree="put_away")
        # An iteration that failed before the agent started says nothing about the task.
        attempts = task.attempts + 1 if self._facts.agent_ran else task.attempts
        blocked = attempts >= self._place.settings.max_task_attempts
        row = TaskCells(
            status="blocked" if blocked else "pending",
            claimed=False,
            attempts=attempts,
            iteration=self._run.iteration,
            last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
            sent_back=self._sent_back_for(self._facts.contested) if self._facts.contested else UNSET,
        )
        gave_up = blocked or not self._facts.agent_ran
        tree: TreeAction = "put_away" if blocked else "keep"
        return self._settle(outcome, failed=True, task=task, row=row, why=why, gave_up=gave_up, tree=tree)

    def _sent_back(self, outcome: IterationOutcome, why: str) -> Settlement:
        """A claim without proof: the task is pending again, with no attempt more, and the next claim counts."""
        self._place.watch(IterationFailed(outcome, why, self._facts.log, self._task.id if self._task else ""))
        task = self.current(self._files.tasks.load())
        row = TaskCells(
            status="pending",
            claimed=False,
            iteration=self._run.iteration,
            last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
            sent_back=self._sent_back_for((UNPROVEN,)),
        )
        return self._settle(outcome, failed=True, task=task, row=row, why=why, tree="keep")

    @property
    def _requires_proof(self) -> bool:
        return ((self._task.proof if self._task else "") or self._place.settings.proof) == "require"

    def _sent_back_for(self, reasons: tuple[str, ...]) -> tuple[str, ...]:
        """Why claims of the task went back, with these reasons; each is one for which none goes back again."""
        before = self._task.sent_back if self._task else ()
        return (*(reason for reason in before if reason not in reasons), *reasons)

    def _disputed(self, why: str) -> Settlement:
        """A person has to decide whether old tests may fail: the task waits, and its work is kept."""
        text = f"may the work on this task change old tests? {for_person(why)}"
        return self._decided_by_person(IterationOutcome.DISPUTED, why, text, (ACCEPT, REFUSE))

    def _review_failed(self, why: str) -> Settlement:
        """A reviewer refused the work: the next attempt reads why, or a person decides between the two."""
        settings, outcome = self._place.settings, IterationOutcome.REVIEW_FAILED
        task = self.current(self._files.tasks.load())
        before = task.sent_back if task else ()
        refusals = sum(reason.startswith(outcome) for reason in before) + 1
        attempts = (task.attempts if task else 0) + self._facts.agent_ran
        if refusals >= settings.review.rounds or attempts >= settings.max_task_attempts:
            evidence = self._facts.evidence.words if self._facts.evidence else "the checks passed"
            text = (
                f"is the work on this task good enough? its author, `{self._run.agent}`, claims that it is done "
                f"({evidence}); {why}"
            )
            return self._decided_by_person(outcome, why, text, (ACCEPT, REFUSE))
        self._place.watch(IterationFailed(outcome, why, self._facts.log, self._task.id if self._task else ""))
        row = TaskCells(
            status="pending",
            claimed=False,
            attempts=attempts,
            iteration=self._run.iteration,
            last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
            sent_back=self._sent_back_for((f"{outcome} {refusals}",)),
        )
        return self._settle(outcome, failed=True, task=task, row=row, why=why, tree="keep")

    def _decided_by_person(
        self, outcome: IterationOutcome, why: str, text: str, options: tuple[str, ...]
    ) -> Settlement:
        """The task waits for the answer to a question about its work, which is kept."""
        tasks = self._files.tasks.load()
        task = self.current(tasks)
        question = Question(
            id=new_id({question.id for row in tasks for question in row.questions}),
            text=text[:MAX_FAILURE],
            options=options,
            iteration=self._run.iteration,
            asked_at=iso(self._place.clock.now()),
        )
        self._report_question(task, question, is_dispute=True)
        row = TaskCells(
            status="waiting",
            claimed=False,
            iteration=self._run.iteration,
            last_failure=f"{outcome}: {why}"[:MAX_FAILURE],
            questions=(*(task.questions if task else ()), question),
        )
        return self._settle(
            outcome,
            failed=False,
            task=task,
            row=row,
            why=why,
            question=question,
            tree="put_away",
        )

    def _report_question(self, task: Task | None, question: Question, *, is_dispute: bool = False) -> None:
        task_id = task.id if task else ""
        id = question.id if self._place.lane is None else task_id
        self._place.watch(QuestionAsked(task_id, question.text, id, is_dispute))

    def parked(self) -> Settlement | None:
        """The settlement of a task whose agent asked a question; None if it asked none."""
        task = self.current(self._files.tasks.load())
        question = new_question(self._task, task) if self._task else None
        if task is None or question is None:
            return None
        self._report_question(task, question)
        return self._settle(IterationOutcome.ASKED, failed=False, task=task, question=question, tree="put_away")

    def troubled(self, trouble: AgentTrouble) -> Settlement:
        """The agent could not work, or a budget is used up: the task is pending again, with no attempt more."""
        ending = trouble.ending
        self._place.watch(IterationFailed(trouble.outcome, trouble.why, self._facts.log))
        task = self.current(self._files.tasks.load())
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
        if ending.kind is EndingKind.RESTARTED:
            action: TreeAction = "keep" if self._run.mode == "implementation" else "put_away"
            return self._settle(trouble.outcome, failed=False, task=task, row=row, why=trouble.why, tree=action)
        now, key = self._place.clock.now(), f"{self._run.run_id}/{self._run.iteration}"
        wait = wait_after(ending, self._run.waits.get(self._run.agent), now, key)
        return self._settle(trouble.outcome, failed=False, task=task, row=row, why=trouble.why, wait=wait)

    def current(self, tasks: tuple[Task, ...]) -> Task | None:
        """The task of this iteration as it is in `tasks`."""
        task_id = self._task.id if self._task else ""
        return next((task for task in tasks if task.id == task_id), None)

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
        self._files.repository.end_attempt(self._run, is_completed=decision.get("tree") == "complete")
        self._facts.notes += self._files.repository.take_notes()
        if not self._facts.agent_ran:  # then nothing changed
            decision.pop("tree", None)
        return Settlement(
            outcome,
            failed,
            attempt=self._task.attempts + 1 if self._task else self._run.iteration,
            last_failure=failure_line(self._task),
            task_id=task.id if task else "",
            row=row,
            usage=self._facts.usage,
            new_tasks=new_tasks,
            agent=self._run.agent if self._facts.agent_ran else "",
            record=self._facts.record(self._run, task, outcome, why, now, new_tasks),
            **decision,
        )


def _without_claims(tasks: tuple[Task, ...]) -> list[Task]:
    return [replace(task, claimed=False) for task in tasks]
