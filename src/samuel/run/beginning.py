"""Which run it is that begins: a new one, or the one that was killed or ran out of budget, where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.evidence import restore
from samuel.attempt.stop import RunStopped
from samuel.attempt.workplace import Workplace
from samuel.clients.adapter.ending import EndingKind
from samuel.events.endings import ExitReason
from samuel.history.availability import AgentWait
from samuel.history.budgets import AddedBudget
from samuel.history.notices import BranchEntered, RunResumed
from samuel.history.own_branch import OwnBranch, enter
from samuel.history.run import Run, own_branch_of
from samuel.history.run_file import RunFile
from samuel.history.run_state import RunState
from samuel.history.tree_state import NO_TREE
from samuel.process.tree import end_leftovers
from samuel.run.ledger import TaskLedger
from samuel.run.recovery import carry_out
from samuel.run.run_history import RunHistoryWriter
from samuel.workspaces.own_tree import OwnTree
from samuel.workspaces.workspace import AttemptWorkspace


class RunBeginning:
    def __init__(
        self,
        place: Workplace,
        file: RunFile,
        state: RunState,
        own: OwnTree,
        workspace: AttemptWorkspace,
        ledger: TaskLedger,
        history: RunHistoryWriter,
        pinned: Mapping[str, Any],
    ) -> None:
        self._place = place
        self._file = file
        self._state = state
        self._own = own
        self._workspace = workspace
        self._ledger = ledger
        self._history = history
        self._pinned = dict(pinned)

    def begin(self, max_iterations: int, agents: Sequence[str], added: AddedBudget) -> None:
        """Let the state be that of the run."""
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
            self._state.load(last_run)
            self._own.of_run(last_run.run_id, last_run.tree)
            self._own.files.repository.resume(last_run, self._own.files.work_tree)
            if not last_run.over:
                self._resume(max_iterations, agents, added)
                return
            self._finish()
            last_run = self._state.run
            if last_run.budget_hit:
                self._go_on(max_iterations, agents, added)
                return
        self._new_run(last_run, max_iterations, agents, added)

    def _resume(self, max_iterations: int, agents: Sequence[str], added: AddedBudget) -> None:
        """Go on with the run that was killed."""
        self._enter_branch_again()
        run, attempts = self._state.run, self._own.files.attempts
        self._place.watch(RunResumed(run.run_id, run.iteration))
        if not run.decided:  # else its attempt was looked at, and may be half put away
            attempts.resume()
        run = replace(run, max_iterations=max_iterations, agents=list(agents), tree=attempts.state)
        self._state.begin(run.with_budget(added))

    def _go_on(self, max_iterations: int, agents: Sequence[str], added: AddedBudget) -> None:
        """Go on with the run that a budget ended: what it used still counts."""
        self._enter_branch_again()
        run = self._state.run
        self._place.watch(RunResumed(run.run_id, run.iteration))
        self._state.begin(
            replace(
                run.with_budget(added),
                exit_reason=None,
                exit_message="",
                budget_hit="",
                max_iterations=run.counted_iterations + max_iterations,
                agents=list(agents),
                waits={},
            )
        )

    def _new_run(
        self, last_run: Run | None, max_iterations: int, agents: Sequence[str], added: AddedBudget
    ) -> None:
        run_id = self._place.clock.new_id("run")
        unfinished = own_branch_of(last_run) if last_run else None
        if unfinished is not None and unfinished.name != self._place.git.branch():
            unfinished = None
        branch = self._workspace.choose_branch(run_id, unfinished)  # it may refuse, and then nothing has begun
        self._own.of_run(run_id, NO_TREE)
        person = self._workspace.take_over(last_run)
        run = Run(
            run_id=run_id,
            methodology=self._place.settings.name,
            agent=agents[0],
            agents=list(agents),
            added_budget=added,
            waits=self._waits_of(last_run),
            started_at=self._place.clock.now(),
            max_iterations=max_iterations,
            dirty=self._own.excluded_from_commits(person),
            tree=self._own.files.attempts.state,
            pinned=self._pinned,
        )
        self._enter_branch(run, branch, resumed=False)
        if why := self._own.files.attempts.unavailable:
            self._place.warn(why)
        self._history.begin(self._state.run, self._own.files)
        if self._file.problem:
            self._place.warn(f"there is no record of this run, so it cannot be resumed: {self._file.problem}")

    def _enter_branch_again(self) -> None:
        """Let HEAD be on the branch of the run that goes on."""
        run = self._state.run
        branch = self._workspace.choose_branch(run.run_id, run.own_branch or None)
        self._enter_branch(run, branch, resumed=True)

    def _enter_branch(self, run: Run, branch: OwnBranch | None, *, resumed: bool) -> None:
        """Let HEAD be on a branch. Saved before HEAD moves: a run that is killed between goes on there."""
        self._state.begin(replace(run, own_branch=branch or UNSET))
        if branch is not None:
            enter(self._place.git, branch, resumed=resumed)
            self._place.watch(BranchEntered(branch.name, branch.origin))

    def _waits_of(self, last_run: Run | None) -> dict[str, AgentWait]:
        """The usage limits that a run still waited for when it was interrupted."""
        if last_run is None or last_run.exit_reason is not ExitReason.INTERRUPTED:
            return {}
        now, waits = self._place.clock.now(), last_run.waits.items()
        return {agent: wait for agent, wait in waits if wait.kind is EndingKind.LIMITED and wait.until > now}

    def _finish(self) -> None:
        """Carry out what the last run decided, if it was stopped before that was done."""
        try:
            carry_out(self._own, self._ledger, self._state)
            self._state.flush()
        except RunStopped:  # a stop was requested before this run began
            raise KeyboardInterrupt from None
