"""What the loop reports while it works: a closed set of records, for a display or an embedding program.

A reader that must miss none matches on the class and ends with `assert_never`, or has a table that a test compares
with `Report`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samuel.clients.adapter.ending import AgentEnding
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.budgets import Usage
from samuel.history.run import RunMode
from samuel.tasks.task import Task, TaskStatus


@dataclass(frozen=True)
class RunResumed:
    """A run that was killed goes on."""

    run_id: str
    iteration: int


@dataclass(frozen=True)
class RunStarted:
    """The iterations are about to begin."""

    statuses: tuple[TaskStatus, ...]
    """The status of every task, in the order of the task file."""
    max_iterations: int
    run_id: str = ""
    """"" for a dry run."""


@dataclass(frozen=True)
class RunRefused:
    """A handler of `before:loop` ended the run before its first iteration."""

    why: str


@dataclass(frozen=True)
class IterationStarted:
    """The header of an iteration: reported once, before anything else about it."""

    iteration: int
    max_iterations: int
    mode: RunMode
    task: Task | None
    """None for a discovery."""


@dataclass(frozen=True)
class DiscoveryChosen:
    """After the header named a task, a handler of `iteration.gate` chose to look for tasks instead."""


@dataclass(frozen=True)
class StepStarted:
    """An event of the run is about to be fired."""

    event: str


@dataclass(frozen=True)
class AgentOutputChunk:
    """A piece of the agent's output; it may end in the middle of a character."""

    chunk: bytes
    readable: bool = True
    """False: records for programs, such as JSON lines; `AgentActivity` has them in words."""


@dataclass(frozen=True)
class AgentActivity:
    """What the agent does, in a few words: `reads src/app.py`, `runs pytest`, or the last line that it said."""

    text: str
    usage: Usage
    """Of this agent so far; empty if it is not known."""
    repeats_output: bool = False
    """True: the text is a line of the agent's readable output, which is reported as well."""


@dataclass(frozen=True)
class AgentEnded:
    exit_code: int
    usage: Usage
    ending: AgentEnding
    log: str
    """The path of its output, below the project's root."""
    agent: str = ""


@dataclass(frozen=True)
class WaitStarted:
    """The run waits for an agent that cannot work now."""

    agent: str
    until: float
    """Seconds since the epoch."""
    why: str


@dataclass(frozen=True)
class RunSteered:
    """What a person asked of the run, in words: a pause, its end, or a stop."""

    text: str


@dataclass(frozen=True)
class AgentChanged:
    """Another agent takes over."""

    agent: str
    why: str


@dataclass(frozen=True)
class BaselineChecked:
    """The checks ran once before the first agent."""

    failing: tuple[str, ...]
    """The commands that failed."""
    accepted: bool
    cannot_run: tuple[str, ...] = ()
    """Those of them whose program is missing or may not be executed: they are never accepted."""
    withheld: tuple[str, ...] = ()
    """Variables that are set here and that checks do not get, if one failed: those that it may need."""
    only_in_place: tuple[str, ...] = ()
    """Checks that fail in the clean room and pass in the work tree."""


@dataclass(frozen=True)
class WorkPutAway:
    """The changes of a failed attempt left the work tree; a ref has them."""

    task_id: str
    """"" for a discovery."""
    ref: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class QuestionAsked:
    task_id: str
    question: str
    id: str
    """Of the question; of its task where several agents work at once, since another may have asked meanwhile."""
    is_dispute: bool = False
    """True: it asks whether old tests may fail with the work."""


@dataclass(frozen=True)
class TaskDecided:
    """The agent skipped or blocked its task."""

    task_id: str
    status: TaskStatus
    reason: str


@dataclass(frozen=True)
class CheckFilesChanged:
    """An attempt changed tests that its task does not own: the checks run with those of the verified tree, too."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class CheckStarted:
    """One command of `quality_checks` is about to run."""

    command: str


@dataclass(frozen=True)
class CheckEnded:
    """One command of `quality_checks` has ended."""

    command: str
    passed: bool
    seconds: float
    output_tail: str = ""
    repeated: bool = False
    """True: it had failed, and ran once more; if it passed now, it is flaky."""
    corner: str = "own"
    """Which tests ran on which source, as in `CheckRecord.corner`."""


@dataclass(frozen=True)
class ReviewStarted:
    """Another agent is about to read the work on a claimed task."""

    agent: str
    lens: str
    """`work`, `security` or `tests`."""


@dataclass(frozen=True)
class ReviewEnded:
    """Another agent has read it."""

    agent: str
    lens: str
    verdict: str
    """`accept`, `refuse`, or `none` if it gave no verdict."""
    findings: int
    seconds: float
    why: str = ""
    """Why there is no verdict."""


@dataclass(frozen=True)
class LostTests:
    """Tests that ran before do not run with the work of an attempt that passed the checks."""

    task_id: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class IterationFailed:
    """Why an iteration failed, or was ended before it came to a result."""

    outcome: IterationOutcome
    why: str
    log: str = ""
    """The path of the agent's output, below the project's root; "" if no agent ran."""
    task_id: str = ""


@dataclass(frozen=True)
class AcceptanceWritten:
    """An agent wrote acceptance tests for a task, before the work on it starts."""

    task_id: str
    tests: tuple[str, ...]
    hidden: int
    """How many of them the worker does not see."""
    why: str
    """Why they are not used; "" if they are locked."""


@dataclass(frozen=True)
class IterationSettled:
    """The result of an iteration is in the task file and counted."""

    mode: RunMode
    outcome: IterationOutcome
    new_tasks: int
    """How many tasks a discovery added."""
    usage: Usage
    """Of the whole run so far."""
    statuses: tuple[TaskStatus, ...]
    grade: str = ""
    """That of the completed task, as in `Task.grade`."""
    still_red: tuple[str, ...] = ()
    """What failed before the task, if it turned none of it green: why it is unverified."""


@dataclass(frozen=True)
class HandlerMessage:
    """What a handler has to say to the user."""

    text: str


@dataclass(frozen=True)
class LoopWarning:
    text: str


@dataclass(frozen=True)
class TaskFileUnreadable:
    """The loop waits until the task file can be read again."""

    why: str


@dataclass(frozen=True)
class LaneReport:
    """A report about what happens in one lane of a run with several agents at once."""

    lane: int
    """0 where merges are checked before they land."""
    report: Report


@dataclass(frozen=True)
class LandingStarted:
    """Work is about to be merged and checked."""

    tasks: tuple[str, ...]
    waiting: int
    """How many others are ready."""


@dataclass(frozen=True)
class WorkLanded:
    """A branch has moved to a checked merge."""

    tasks: tuple[str, ...]
    commit: str
    branch: str


@dataclass(frozen=True)
class LandingParked:
    """A handler of `before:land` wants a person to agree first."""

    task_id: str
    reason: str


@dataclass(frozen=True)
class BranchChosen:
    """Work lands on a branch of the run's own, and not on that of the person's work tree."""

    branch: str
    why: str


@dataclass(frozen=True)
class BranchEntered:
    """The run works on a branch of its own, which is checked out in the person's work tree."""

    branch: str
    origin: str


@dataclass(frozen=True)
class RunEnded:
    reason: ExitReason
    iterations: int
    counts: Mapping[str, int]
    """How many tasks have which status; all zero if the task file cannot be read."""
    usage: Usage
    tasks: tuple[Task, ...] = ()
    """All tasks, in the order of the task file."""
    message: str = ""
    """Why it ended, where the reason does not say it all."""
    report: str = ""
    """The path of the run's report, below the project's root; "" if there is none."""
    branch: str = ""
    """The branch of the run's own with its work; "" if the work is on the branch of its user."""
    from_branch: str = ""
    """The branch that it came from; "" for none."""
    lost_tests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By id of a completed task: tests that ran before it and do not run since."""


Report = (
    RunResumed
    | RunStarted
    | RunRefused
    | IterationStarted
    | DiscoveryChosen
    | StepStarted
    | AgentOutputChunk
    | AgentActivity
    | AgentEnded
    | WaitStarted
    | RunSteered
    | AgentChanged
    | BaselineChecked
    | WorkPutAway
    | QuestionAsked
    | TaskDecided
    | CheckStarted
    | CheckEnded
    | CheckFilesChanged
    | ReviewStarted
    | ReviewEnded
    | LostTests
    | IterationFailed
    | AcceptanceWritten
    | IterationSettled
    | HandlerMessage
    | LoopWarning
    | TaskFileUnreadable
    | LaneReport
    | LandingStarted
    | WorkLanded
    | LandingParked
    | BranchChosen
    | BranchEntered
    | RunEnded
)
Watch = Callable[[Report], None]


def ignore_reports(report: Report) -> None:
    """The `Watch` of a loop that has no display."""
