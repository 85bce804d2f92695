"""What a run knows of itself: enough to go on after being killed at any instruction.

`run.json` changes in one atomic write at a time. What an iteration decides about its task is written here first,
as the thing that is about to be done, then into the task file, then struck here. A run that finds it undone does
it again: applying the same settlement twice gives the same task file.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.attempt_record import AttemptRecord
from samuel.history.availability import AgentWait
from samuel.history.budgets import NOTHING_ADDED, AddedBudget, BudgetHit, add_usage
from samuel.history.own_branch import OwnBranch
from samuel.history.steering import Guidance
from samuel.history.tree_state import NO_TREE, TreeState
from samuel.tasks.grade import Grade
from samuel.tasks.question import Question
from samuel.tasks.task import Task, TaskStatus

MAX_FAILURE = 4000  # characters of a failure that the next attempt gets to read

LONE_AFTER = 2
"""Conflicts after which a task is worked on alone: nothing else lands between its beginning and its landing."""

TreeAction = Literal["", "complete", "keep", "put_away", "drop"]
"""What happens to the work tree: it is the new verified tree, or the attempt is kept in a ref, and put away. With
`drop` it becomes the verified tree again, and no ref has what was written: acceptance tests are kept elsewhere."""

PlaceStatus = Literal["checking", "ready", "waiting", "out"]
"""`waiting`: it is tried again later. `out`: it gets no more work in this run."""

RunMode = Literal["implementation", "discovery", "acceptance"]


class TaskCells(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cells of a task's row that a settlement may change; one that is UNSET stays as it is."""

    status: TaskStatus | UnsetType = UNSET
    claimed: bool | UnsetType = UNSET
    attempts: int | UnsetType = UNSET
    iteration: int | UnsetType = UNSET
    last_failure: str | UnsetType = UNSET
    completed_at: str | UnsetType = UNSET
    commit_sha: str | UnsetType = UNSET
    grade: Grade | UnsetType = UNSET
    reviewed: str | UnsetType = UNSET
    sent_back: tuple[str, ...] | UnsetType = UNSET
    questions: tuple[Question, ...] | UnsetType = UNSET

    def applied_to(self, task: Task) -> Task:
        """The task with these cells."""
        cells = {name: getattr(self, name) for name in self.__struct_fields__}
        return replace(task, **{name: value for name, value in cells.items() if value is not UNSET})


UNCHANGED = TaskCells()


class Settlement(msgspec.Struct, frozen=True):
    """What an iteration decided: its outcome, and the cells of the task's row that change with it."""

    outcome: IterationOutcome
    failed: bool
    task_id: str = ""
    row: TaskCells = UNCHANGED
    usage: dict[str, Any] = {}
    commit: list[str] | None = None  # the paths to commit, if the task is to have a commit
    new_tasks: int = 0  # for a discovery
    gave_up: bool = False  # the task is blocked by this failure, or the failure cost no attempt
    agent: str = ""  # that worked; "" if none did
    wait: AgentWait | None = None  # that agent cannot work now
    budget: BudgetHit | None = None  # is used up
    question: Question | None = None  # that the agent asked
    tree: TreeAction = ""
    attempt: int = 0  # the number of the attempt at the task
    last_failure: str = ""  # why the attempt before it failed, in one line
    record: AttemptRecord | None = None
    acceptance: AcceptanceTests | None = None  # what came of writing acceptance tests for the task

    @property
    def counted(self) -> bool:
        """Whether the iteration counts against `max_iterations`: trouble of an agent and a restart do not."""
        return self.wait is None and self.outcome is not IterationOutcome.RESTARTED


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt came to. With the ref of its work, this is all that a lane or a machine gives back."""

    settlement: Settlement
    cells: TaskCells = UNCHANGED
    """What the agent itself changed of its task's row, in the list of its lane."""
    added: tuple[Task, ...] = ()
    """The tasks that it added, with ids of the lane's list."""
    work: str = ""
    """The commit with the work, which `refs/samuel/<run>/work/<task>/<attempt>` holds; "" if nothing can land."""
    tree: str = ""
    """The tree of that commit, on which the checks passed."""
    mode: RunMode = "implementation"


class AttemptUnderWay(msgspec.Struct, frozen=True, kw_only=True):
    """A task under way: an attempt, or what it came to until that is carried out: the redo record."""

    iteration: int
    task: str
    """"" for a discovery."""
    attempt: int
    agent: str
    started_at: float
    mode: RunMode = "implementation"
    """`acceptance` if its agent writes acceptance tests; what the gate decides is in the result."""
    lane: int | UnsetType = UNSET
    """UNSET in the work tree of the user; 0 for work of an earlier run, which waits for its landing."""
    result: AttemptResult | None = None  # None until it is decided
    probe: bool = False
    """True: its agent could not work before, and tries whether it can now."""
    base: str = ""
    """The commit that it began with in its lane."""
    tree: TreeState = NO_TREE
    """Of its lane; that of the user's work tree is the run's own."""
    exclusive: bool = False
    """True: nothing else lands while this is under way."""
    place: str = ""
    """The place on other machines where it runs; "" for this one."""
    machine: str = ""
    """Which machine of a cluster runs it, when that is known."""
    question: str = ""
    """The id of the question whether it may land, if a handler of `before:land` refused it."""
    approved: bool = False
    guidance: tuple[Guidance, ...] = ()
    """What people said to it, for its prompt."""


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """An iteration that is settled, for `after:iteration`."""

    iteration: int
    mode: RunMode
    settlement: Settlement
    lane: int | UnsetType = UNSET


class LandingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A landing that is about to happen: what a killed run finishes."""

    branch: str
    old: str
    new: str
    tasks: tuple[str, ...]
    followed: bool
    """Whether a person's work tree is brought along."""
    predicate: dict[str, Any] = {}
    """Of the receipt of `new`, if that is a merge."""


class MachineState(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of a cluster, as the coordinator knows it."""

    name: str
    slots: int
    why: str = ""
    """Why it gets no work; "" if it does."""


class PlaceState(msgspec.Struct, frozen=True, kw_only=True):
    """A place on other machines, as the coordinator knows it."""

    lanes: tuple[int, ...]
    """The numbers of its slots."""
    status: PlaceStatus = "checking"
    why: str = ""
    """Why it is not ready."""
    until: float = 0.0
    """When it is tried again."""
    machine: str = ""
    version: str = ""
    directory: str = ""
    """The clone that it works in."""
    machines: tuple[MachineState, ...] = ()
    """Those of a cluster."""


class LanesState(msgspec.Struct, frozen=True, kw_only=True):
    """What a run with lanes knows beside what every run knows."""

    count: int
    branch: str
    """The branch that work lands on."""
    start: str
    """The commit that the run began with."""
    tip: str
    """The commit that the branch had when Samuel last wrote or read it."""
    from_branch: str = ""
    """The branch of the person's work tree when the run began; "" if it was detached."""
    ready: dict[str, AttemptUnderWay] = {}
    """Work that waits for a person or for the next run, by task."""
    landing: LandingRecord | None = None
    conflicts: dict[str, int] = {}
    """How often the work on a task did not fit what had landed meanwhile."""
    green: tuple[str, ...] = ()
    """Trees on which the checks passed, the newest last."""
    landed: int = 0
    places: tuple[str, ...] = ()
    """Where attempts run, in the words of the user; empty for this machine alone."""
    fleet: dict[str, PlaceState] = {}
    """The places on other machines, by name."""

    def works_alone(self, task: str) -> bool:
        """Whether the next attempt at this task is one during which nothing else lands."""
        return self.conflicts.get(task, 0) >= LONE_AFTER


class Run(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    methodology: str
    agent: str
    agents: list[str] = []  # in order of preference
    started_at: float
    max_iterations: int
    iteration: int = 0  # the one under way, or the last
    mode: RunMode = "implementation"
    iterations_run: int = 0
    uncounted: int = 0  # of these iterations, those that do not count against `max_iterations`
    succeeded: int = 0  # iterations that did not fail
    consec_fails: int = 0  # tasks in a row that were given up
    empty_discoveries: int = 0
    outcomes: dict[IterationOutcome, int] = {}
    usage: dict[str, Any] = {}
    task_usage: dict[str, dict[str, Any]] = {}  # by task
    added_budget: AddedBudget = NOTHING_ADDED
    budget_hit: str = ""  # the budget that ended the run, in words
    waits: dict[str, AgentWait] = {}  # the agents that cannot work now
    plugins: dict[str, Any] = {}  # what before:loop's handlers contributed, for the whole run
    dirty: list[str] = []  # what was changed in the work tree before the run: never committed by it
    tree: TreeState = NO_TREE
    baseline_done: bool = False  # the checks ran before the first agent
    pinned: dict[str, Any] = {}  # configuration and chains as they were when it started
    active: dict[str, AttemptUnderWay] = {}  # the tasks under way, by id
    unannounced: tuple[Announcement, ...] = ()  # in the task file; after:iteration may not have been fired yet
    exit_reason: ExitReason | None = None  # None while the run has not ended
    exit_message: str = ""  # the message of the handler or the error that ended the run
    lanes: LanesState | UnsetType = UNSET  # of a run with several agents at once
    own_branch: OwnBranch | UnsetType = UNSET  # checked out in the work tree; an earlier run may have made it
    complaints: list[str] = []  # faults of strict handlers that came too late to stop anything: the exit code is 1

    @property
    def over(self) -> bool:
        return self.exit_reason is not None

    @property
    def working(self) -> bool:
        """Whether a task is under way."""
        return bool(self.active)

    @property
    def guidance(self) -> tuple[Guidance, ...]:
        """What people said to the attempt of this iteration."""
        records = (record for record in self.active.values() if record.iteration == self.iteration)
        return next((record.guidance for record in records), ())

    def is_restart_of(self, task: str) -> bool:
        """Whether the attempt of this iteration begins again because a person said something to the one before."""
        return any(entry.ends(task) for entry in self.guidance)

    @property
    def decided(self) -> list[AttemptUnderWay]:
        """The tasks under way that were decided, and whose result may not be carried out yet."""
        return [record for record in self.active.values() if record.result is not None]

    @property
    def exit_code(self) -> int:
        """The exit code of `samuel run start`: that of the exit reason, or 1 if it is 0 and nothing succeeded."""
        if self.exit_reason is None:
            return 1
        only_failures = self.iterations_run > 0 and self.succeeded == 0
        return self.exit_reason.exit_code or int(only_failures or bool(self.complaints))

    @property
    def session_id(self) -> str:
        """Each agent process is a session."""
        return f"{self.run_id}-{self.iteration}"

    def with_budget(self, added: AddedBudget) -> Run:
        """The run with more to use than before."""
        mine = self.added_budget
        total = AddedBudget(mine.tokens + added.tokens, mine.cost_usd + added.cost_usd)
        return replace(self, added_budget=total)

    @property
    def counted_iterations(self) -> int:
        return self.iterations_run - self.uncounted

    def begin(self, record: AttemptUnderWay) -> Run:
        """The run with one more task under way; the gate of its iteration may choose discovery instead."""
        active = {**self.active, record.task: record}
        return replace(self, iteration=record.iteration, agent=record.agent, mode=record.mode, active=active)

    def without(self, *tasks: str) -> Run:
        """The run with these tasks under way no more."""
        return replace(self, active={id: record for id, record in self.active.items() if id not in tasks})

    def complain(self, event: str, reason: str) -> Run:
        """The run with one more complaint; the same one is kept once."""
        complaint = f"{event}: {reason}"
        return self if complaint in self.complaints else replace(self, complaints=[*self.complaints, complaint])

    def settled(self, record: AttemptUnderWay, settlement: Settlement) -> Run:
        """The run after a settlement was put into the task file: the iteration is counted, once."""
        mode = record.result.mode if record.result else "implementation"
        announcement = Announcement(iteration=record.iteration, mode=mode, settlement=settlement, lane=record.lane)
        return replace(
            self.without(record.task),
            mode=mode,
            unannounced=(*self.unannounced, announcement),
            iterations_run=self.iterations_run + 1,
            uncounted=self.uncounted + (not settlement.counted),
            succeeded=self.succeeded + (not settlement.failed and settlement.counted),
            consec_fails=self._consec_fails_after(settlement),
            waits=self._waits_after(settlement, probe=record.probe),
            budget_hit=self._budget_hit_after(settlement),
            task_usage=self._task_usage_after(settlement),
            empty_discoveries=self._empty_discoveries_after(settlement, mode),
            outcomes={**self.outcomes, settlement.outcome: self.outcomes.get(settlement.outcome, 0) + 1},
            usage=add_usage(self.usage, settlement.usage),
        )

    def _consec_fails_after(self, settlement: Settlement) -> int:
        """An attempt that failed and can be repeated, and trouble of an agent, neither count nor end the row."""
        if settlement.failed:
            return self.consec_fails + settlement.gave_up
        return 0 if settlement.counted and not settlement.budget else self.consec_fails

    def _waits_after(self, settlement: Settlement, *, probe: bool) -> dict[str, AgentWait]:
        """Attempts that were under way when the trouble began say nothing new, so only a probe ends a wait or
        makes the next one longer.
        """
        agent, wait, current = settlement.agent, settlement.wait, self.waits.get(settlement.agent)
        if current is not None and not probe:
            wait = replace(current, until=max(current.until, wait.until)) if wait else current
        others = {name: other for name, other in self.waits.items() if name != agent}
        return {**others, agent: wait} if wait else others

    def _budget_hit_after(self, settlement: Settlement) -> str:
        hit = settlement.budget
        return hit.text if hit and hit.scope != "task" else self.budget_hit

    def _task_usage_after(self, settlement: Settlement) -> dict[str, dict[str, Any]]:
        if not (settlement.task_id and settlement.usage):
            return self.task_usage
        task_usage = add_usage(self.task_usage.get(settlement.task_id, {}), settlement.usage)
        return {**self.task_usage, settlement.task_id: task_usage}

    def _empty_discoveries_after(self, settlement: Settlement, mode: RunMode) -> int:
        """How many discoveries in a row added no task. A failed one neither counts nor ends the row."""
        if mode != "discovery" or settlement.failed:
            return self.empty_discoveries
        return 0 if settlement.new_tasks else self.empty_discoveries + 1


def own_branch_of(run: Run) -> OwnBranch | None:
    """The branch of a run's own that has the work; None if the work is on the branch of its user."""
    lanes = run.lanes
    if lanes is not UNSET and lanes.landed and lanes.branch != lanes.from_branch:
        return OwnBranch(name=lanes.branch, from_branch=lanes.from_branch, start=lanes.start)
    return run.own_branch or None
