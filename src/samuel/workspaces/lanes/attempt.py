"""One attempt at a task in a lane: from the commit that it begins with to a work ref and a record.

Nothing here knows of other lanes, of the task file of the run or of the branch. The coordinator decides what
becomes of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace as replaced
from typing import NamedTuple

from msgspec.structs import replace

from samuel.attempt.evidence import sealed_for_commit
from samuel.attempt.iteration import Iteration
from samuel.attempt.run_files import RunFiles
from samuel.attempt.stop import RunStopped, Stop
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.checks.memory import CheckMemory
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.files.regular import read_regular
from samuel.git import settings as git_settings
from samuel.git import worktrees
from samuel.git.kept_refs import KeptRefs, work_ref
from samuel.history.acceptance_tests import AcceptanceMemory, AcceptanceTests
from samuel.history.attempts import DISCOVERY, Attempts
from samuel.history.budgets import AddedBudget
from samuel.history.run import UNCHANGED, AttemptResult, Run, Settlement, TaskCells
from samuel.history.tree_state import KeptAttempt
from samuel.tasks.task import Task, Tasks
from samuel.workspaces.lanes.collect import collect
from samuel.workspaces.lanes.lane import Lane
from samuel.workspaces.settle import commit_task

OWN_CELLS = ("status", "last_failure", "questions")
"""The cells of its task's row that an agent may change for good."""

NOT_SIGNED = (
    "a commit failed, and `commit.gpgsign` is set; the work is kept, and goes on when the key is unlocked, "
    "or after `git config commit.gpgsign false`: "
)


class AttemptRequest(NamedTuple):
    run: Run
    """With the number of the iteration and the agent."""
    task: Task | None
    """None for a discovery."""
    tasks: Tasks
    base: str
    """The commit to begin with."""
    base_tree: str
    """The tree of that commit."""
    last_attempts: dict[str, KeptAttempt]
    """What earlier attempts left, by task."""
    checks: CheckMemory
    acceptance: AcceptanceTests | None
    """What came of asking for acceptance tests of the task; None before."""
    fresh: bool
    """True: begin without what the last attempt left; the agent gets it as a diff to read."""


def work(
    lane: Lane, request: AttemptRequest, stop: Stop, save: Callable[[Run], Run]
) -> tuple[AttemptResult, tuple[CheckRun, ...] | None]:
    """Work on the task: the result, and the checks that passed. Raises RunStopped for what ends the whole run."""
    run, task = request.run, request.task
    lane.reset(request.base)
    lane.give(request.tasks)
    place = _place(lane.place, fresh=request.fresh)
    files = lane.files(run.run_id, request.last_attempts, request.checks, stop, request.base_tree)
    if task is not None and request.acceptance is not None:
        files = files._replace(acceptance=AcceptanceMemory.of({task.id: request.acceptance}))
    _begin_meter(place, run, task)
    progress_size = place.progress.stat().st_size if place.progress.exists() else 0
    run = replace(run, tree=files.attempts.state)
    iteration = Iteration(place, lane.steps, files, run, task, save)
    try:
        settlement = iteration.work()
        if not lane.is_worktree():
            raise SamuelError("the work tree of the lane is gone")  # whatever was decided was about nothing
        run = iteration.run
        commit = ""
        if settlement.tree == "complete":
            try:
                lane.sweep_locks()
                commit = _commit(place, files, run, settlement)
            except SamuelError as error:
                if _is_signed(place):
                    raise RunStopped(
                        IterationOutcome.ABORTED, NOT_SIGNED + error.message, ExitReason.ERROR
                    ) from None
                settlement = iteration.refused(IterationOutcome.ABORTED, f"the commit failed: {error.message}")
        tree = _held(place, run, settlement, commit, request.base)
        if settlement.tree in ("keep", "put_away"):
            settlement = _put_into_ref(files.attempts, settlement)
            save(replace(run, tree=files.attempts.state))
        cells, added = _changes(task, request.tasks, place.tasks.load())
        result = AttemptResult(
            settlement=settlement,
            cells=cells,
            added=added,
            work=commit if tree else "",
            tree=tree,
            mode=run.mode,
        )
        return result, files.checks.verified
    except BaseException as error:  # what its agent changed is lost with the next reset, unless a ref has it
        if not lane.steps.agent_started:
            raise
        ref = ""
        if not lane.is_worktree():  # the next attempt must not go on with nothing
            save(replace(iteration.run, tree=replace(files.attempts.state, attempts=request.last_attempts)))
        else:
            with suppress(SamuelError, OSError):
                files.attempts.observe()
                number = task.attempts + 1 if task else run.iteration
                ref = files.attempts.keep(files.attempts.state.task or DISCOVERY, number)
                save(replace(iteration.run, tree=files.attempts.state))
        why = lane.damage() if _ends_the_run(error) else ""
        if not why:
            raise
        return AttemptResult(settlement=_damaged(lane, request, iteration, why, ref)), None
    finally:
        with suppress(OSError):
            collect(place, lane.project, lane.journal, run.run_id, run.iteration, progress_size)


def _ends_the_run(error: BaseException) -> bool:
    """Whether the attempt could not go on, though its end was not requested."""
    if isinstance(error, RunStopped):
        return error.exit_reason is ExitReason.ERROR
    return isinstance(error, SamuelError | OSError)


def _damaged(lane: Lane, request: AttemptRequest, iteration: Iteration, why: str, ref: str) -> Settlement:
    """The settlement of an attempt whose agent damaged the lane: it failed, and the lane is made again.

    The run goes on: other lanes are as they were. What the agent changed is in `ref`, if it could be read.
    """
    task, most = request.task, lane.place.settings.max_task_attempts
    lane.renew(request.base)
    own = replace(task, status="in_progress") if task else None
    lane.place.tasks.replace_all([own if own and row.id == own.id else row for row in request.tasks])
    settlement = iteration.refused(IterationOutcome.ABORTED, f"the agent damaged its lane: {why}")
    record = replace(settlement.record, ref=ref) if settlement.record else None
    settlement = replace(settlement, tree="keep", record=record)
    if task is None:
        return settlement
    attempts = task.attempts + 1
    row = replace(settlement.row, status="blocked" if attempts >= most else "pending", attempts=attempts)
    return replace(settlement, row=row, gave_up=attempts >= most)


def _place(place: Workplace, *, fresh: bool) -> Workplace:
    return replaced(place, settings=replace(place.settings, retry="fresh")) if fresh else place


def _begin_meter(place: Workplace, run: Run, task: Task | None) -> None:
    """An attempt is ended when it alone has used a whole budget: what others use meanwhile is not its fault."""
    added = AddedBudget(run.added_budget.tokens, run.added_budget.cost_usd)
    place.meter.begin(run={}, task=run.task_usage.get(task.id, {}) if task else {}, day={}, added=added)


def _commit(place: Workplace, files: RunFiles, run: Run, settlement: Settlement) -> str:
    """Commit the work; gives the commit that the lane has then, which may be the agent's own."""
    head = place.git.index_file.with_name("HEAD")
    if read_regular(head).startswith(b"ref:"):  # an agent made a branch: ours must not move it
        worktrees.write(place.git, "checkout", "--quiet", "--detach")
    with sealed_for_commit(place, files.tasks, run):
        # A killed attempt starts over, so only an agent could have made a commit with this mark before.
        return commit_task(place, run, settlement, again=False) or place.git.head()


def _is_signed(place: Workplace) -> bool:
    """Whether commits are signed: then every one fails once the key is locked, whatever an agent did."""
    value = git_settings.value_of(place.git.settings(), "commit.gpgsign")
    return value.lower() not in ("", "false", "no", "off", "0")


def _held(place: Workplace, run: Run, settlement: Settlement, commit: str, base: str) -> str:
    """Let the work ref hold the commit; gives its tree, or "" if there is nothing to land."""
    if not commit or commit == base:
        return ""
    refs = KeptRefs(place.git)
    refs.set_ref(work_ref(run.run_id, settlement.task_id, settlement.attempt), commit)
    return refs.tree_of(commit)


def _put_into_ref(attempts: Attempts, settlement: Settlement) -> Settlement:
    """Keep what a failed attempt left in a ref; the settlement with its name."""
    ref = attempts.keep(settlement.task_id or DISCOVERY, settlement.attempt)
    record = replace(settlement.record, ref=ref) if settlement.record else None
    return replace(settlement, record=record)


def _changes(task: Task | None, before: Tasks, after: Tasks) -> tuple[TaskCells, tuple[Task, ...]]:
    """What the agent changed of its task's row, and the tasks that it added."""
    ids = {row.id for row in before}
    added = tuple(row for row in after if row.id not in ids)
    if task is None:
        return UNCHANGED, added
    own = next((row for row in after if row.id == task.id), task)
    row_before = replace(task, status="in_progress")
    cells = {name: getattr(own, name) for name in OWN_CELLS if getattr(own, name) != getattr(row_before, name)}
    return TaskCells(**cells), added
