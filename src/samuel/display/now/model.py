"""What a run is and does at one moment: plain data. Views only arrange it."""

from __future__ import annotations

from typing import Literal

import msgspec

from samuel.display.now.journal_tail import HookEvent
from samuel.history.cost_summary import CostSummary
from samuel.history.holds import Hold
from samuel.history.steering import Guidance
from samuel.report.model import RunReport, WaitingItem

RunPhase = Literal["none", "at work", "waiting", "paused", "ended", "cut off"]
"""`waiting`: for an agent or a machine. `paused`: its process is there, and no attempt is under way. `cut off`: it
was killed, and `samuel run start` resumes it."""


class CheckNow(msgspec.Struct, frozen=True):
    """The last check of an attempt."""

    command: str
    passed: bool
    words: str
    output_tail: str


class ActionNow(msgspec.Struct, frozen=True):
    """Something that happened, in words."""

    at: float
    words: str


class AttemptNow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt under way."""

    task: str
    """"" for a discovery."""
    title: str
    attempt: int
    iteration: int
    agent: str
    mode: str
    started_at: float
    state: Literal["at work", "landing", "ready"]
    lane: int | None = None
    place: str = ""
    machine: str = ""
    doing: str = ""
    step_started_at: float = 0.0
    check: CheckNow | None = None
    actions: tuple[ActionNow, ...] = ()
    """What its agent did last, the newest last."""
    cost: CostSummary = CostSummary()
    log: str = ""
    """The path of its agent's output, below the project's root."""

    @property
    def name(self) -> str:
        """`lane 2 at build-1`, or "" for the work tree of the user."""
        lane = f"lane {self.lane}" if self.lane else ""
        return f"{lane} at {self.machine or self.place}" if self.place else lane


class TaskNow(msgspec.Struct, frozen=True, kw_only=True):
    """A task in the list of a view."""

    id: str
    title: str
    status: str
    word: str
    """Its status; of a completed task, its grade."""
    tone: str
    attempts: int
    why: str = ""
    """Why it is not done, or what its grade rests on."""
    commit: str = ""


class QuestionNow(msgspec.Struct, frozen=True, kw_only=True):
    """A question that waits for a person."""

    id: str
    task: str
    title: str
    text: str
    options: tuple[str, ...]
    command: str
    kind: Literal["question", "landing", "dispute"]


class BudgetNow(msgspec.Struct, frozen=True):
    """How much of a budget is used."""

    name: str
    used: float
    limit: float

    @property
    def words(self) -> str:
        if self.name.endswith("usd"):
            return f"${self.used:.2f} of ${self.limit:.2f}"
        return f"{self.used:,.0f} of {self.limit:,.0f} tokens"


class RunNow(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    project: str
    root: str
    phase: RunPhase = "none"
    run_id: str = ""
    methodology: str = ""
    exit_reason: str = ""
    exit_message: str = ""
    started_at: float = 0.0
    seconds: float | None = None
    """How long the run took, or has taken; None if that was not recorded."""
    iterations: int = 0
    max_iterations: int = 0
    counts: dict[str, int] = {}
    """How many tasks have which status: the same as in `run status --json`."""
    words: dict[str, int] = {}
    """The same with the grades of completed tasks instead of `completed`."""
    cost: CostSummary = CostSummary()
    budgets: tuple[BudgetNow, ...] = ()
    attempts: tuple[AttemptNow, ...] = ()
    landing: str = ""
    holds: tuple[Hold, ...] = ()
    waits_for: str = ""
    """The agent that the whole run waits for."""
    waiting: tuple[WaitingItem, ...] = ()
    """What needs a person, each with its commands."""
    questions: tuple[QuestionNow, ...] = ()
    paused: bool = False
    """Whether no attempt may begin; also where no run is under way."""
    paused_by: str = ""
    guidance: tuple[Guidance, ...] = ()
    """What people said that no attempt had in its prompt yet, or that all attempts at an open task get."""
    tasks: tuple[TaskNow, ...] = ()
    events: tuple[HookEvent, ...] = ()
    """The last events of the run with what hooks said, the newest last."""
    denials: tuple[HookEvent, ...] = ()
    messages: tuple[ActionNow, ...] = ()
    """The last warnings, and what handlers had to say."""
    problem: str = ""
    """Why the tasks or the run cannot be read."""
    report: RunReport | None = None
    """What is recorded of the run so far; None if nothing is."""

    @property
    def is_live(self) -> bool:
        """Whether its process is there."""
        return self.phase in ("at work", "waiting", "paused")

    @property
    def headline(self) -> str:
        """What the run is doing, in a few words."""
        pause = f"paused by {self.paused_by}: `samuel run resume` lets it go on" if self.paused else ""
        match self.phase:
            case "none":
                return "no run yet: `samuel run start` starts one"
            case "ended":
                return f"ended: {self.exit_reason.replace('_', ' ')}"
            case "cut off":
                return f"not ended, {pause}" if pause else "not ended: `samuel run start` resumes it"
            case "paused":
                return pause
            case "waiting":
                return f"waiting for {self.waits_for}"
            case _:
                return f"finishing the attempts under way, {pause}" if pause else "at work"

    @property
    def tool_calls(self) -> tuple[HookEvent, ...]:
        return tuple(event for event in self.events if event.is_tool_call)
