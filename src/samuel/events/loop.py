"""Payloads and results of the autonomous loop's 15 events, in the order they fire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from samuel.events import names
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.event import LoopEvent, field
from samuel.events.lifecycle import Verdict

Mode = Literal["implementation", "impl", "discovery"]
EndingName = Literal[
    "ok",
    "limited",
    "unauthorised",
    "overloaded",
    "unreachable",
    "crashed",
    "timed_out",
    "idle",
    "over_budget",
    "restarted",
]
TaskRow = Annotated[dict[str, Any], field("The task at hand: id, title, description, status and the rest.")]
UsageCounts = Annotated[dict[str, Any], field("Tokens and cost, for agents that report them.")]
UsageSoFar = Annotated[dict[str, Any], field("Tokens and cost of the run so far, for agents that report them.")]
Env = Annotated[
    dict[str, str],
    field(
        "Variables of the agent process. A value `$NAME` is taken from the host when the process starts.",
        secret=True,
    ),
]
PromptText = Annotated[str, field("What the agent is told; empty until the built-in renders it.", bulk=True)]
Tail = Annotated[str, field("The end of the agent's output.", bulk=True)]


class Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    """Where the agent process runs."""

    kind: Annotated[str, field("host, bwrap or oci.")] = "host"
    image: Annotated[str | None, field("The image, for oci.")] = None
    network: Annotated[bool, field("True when it may reach the network.")] = True
    volumes: Annotated[list[str], field("Further mounts, `from:to[:ro]`.")] = msgspec.field(default_factory=list)


class BeforeLoop(LoopEvent, frozen=True, kw_only=True, tag=names.BEFORE_LOOP):
    """Fired once, when the run lock is held and before the first iteration."""

    prd_path: Annotated[str, field("The task file.")]
    max_iterations: Annotated[int, field("The cap; no handler can raise it.")]


class BeforeIteration(LoopEvent, frozen=True, kw_only=True, tag=names.BEFORE_ITERATION):
    """Fired when a task was picked."""

    task: TaskRow
    usage: UsageSoFar = msgspec.field(default_factory=dict)


class IterationGate(LoopEvent, frozen=True, kw_only=True, tag=names.ITERATION_GATE):
    """Asks whether to go on, and in which mode."""

    consec_fails: Annotated[int, field("Tasks in a row that were given up so far.")]
    queue_size: Annotated[int, field("Tasks still pending.")]
    usage: UsageSoFar = msgspec.field(default_factory=dict)


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `iteration.gate`."""

    continue_: Annotated[
        bool | UnsetType, field("False ends the loop. It can be left out where `mode` is given, and is true then.")
    ] = msgspec.field(name="continue", default=UNSET)
    mode: Annotated[
        Mode | None, field("What this iteration does. `impl` is short for `implementation`, the default.")
    ] = None
    reason: Annotated[str | None, field("Why.")] = None
    data: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.continue_ is UNSET and self.mode is None:
            raise ValueError("`continue` is missing")


class ContextSnapshot(LoopEvent, frozen=True, kw_only=True, tag=names.CONTEXT_SNAPSHOT):
    """Asks for an overview of the project."""


class ContextProgress(LoopEvent, frozen=True, kw_only=True, tag=names.CONTEXT_PROGRESS):
    """Asks for what was learned so far."""

    progress_path: Annotated[str, field("progress.md.")]


class ContextTask(LoopEvent, frozen=True, kw_only=True, tag=names.CONTEXT_TASK):
    """Asks for the description of the task at hand."""

    task: TaskRow


class ToonBlob(Verdict, frozen=True, kw_only=True):
    """The result of `context.snapshot` and `context.task`."""

    toon_blob: Annotated[
        str | None, field("TOON text. Left out: the text of earlier handlers is kept.", bulk=True)
    ] = None


class MarkdownBlob(Verdict, frozen=True, kw_only=True):
    """The result of `context.progress`."""

    md_blob: Annotated[
        str | None, field("Markdown. Left out: the text of earlier handlers is kept.", bulk=True)
    ] = None


class ContextExtra(LoopEvent, frozen=True, kw_only=True, tag=names.CONTEXT_EXTRA):
    """Asks plugins and hooks for further texts to add to the prompt."""

    task: TaskRow


class Extra(msgspec.Struct, frozen=True):
    """One text for the prompt."""

    name: Annotated[str, field("A unique file name, like `python-context.md`.")]
    content: Annotated[str, field("The text.", bulk=True)]


class Extras(Verdict, frozen=True, kw_only=True):
    """The result of `context.extra`."""

    extras: Annotated[list[Extra], field("Texts to add to the prompt.", bulk=True)] = msgspec.field(
        default_factory=list
    )


class BeforeAgentInvoke(LoopEvent, frozen=True, kw_only=True, tag=names.BEFORE_AGENT_INVOKE):
    """Asks for changes of the prompt, the environment and the sandbox of the agent process."""

    agent: Annotated[str, field("The agent's name.")]
    prompt: PromptText = ""
    env: Env = msgspec.field(default_factory=dict)
    sandbox: Annotated[Sandbox, field("Where the agent runs.")] = msgspec.field(default_factory=Sandbox)


class Invocation(Verdict, frozen=True, kw_only=True):
    """The result of `before:agent.invoke`: each field replaces the payload's."""

    agent: Annotated[str | UnsetType, field("Another agent; needs the `exec` capability.")] = UNSET
    prompt: PromptText | UnsetType = UNSET
    env: Env | UnsetType = UNSET
    sandbox: Annotated[Sandbox | UnsetType, field("Another sandbox; a looser one needs `exec`.")] = UNSET


class AgentInvoke(LoopEvent, frozen=True, kw_only=True, tag=names.AGENT_INVOKE):
    """Runs the agent. Only the last handler of the chain is called."""

    agent: Annotated[str, field("The agent's name.")]
    prompt: PromptText
    env: Env = msgspec.field(default_factory=dict)
    sandbox: Annotated[Sandbox, field("Where the agent runs.")] = msgspec.field(default_factory=Sandbox)


class EndingReport(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent ended, and whose fault a failure was."""

    kind: Annotated[
        EndingName, field("Of these, limited, unauthorised, overloaded and unreachable cost no attempt.")
    ]
    reason: Annotated[str, field("What the agent or its service said, in one line.")] = ""
    resets_at: Annotated[
        float | None, field("When a usage limit ends, in seconds since the epoch, if that is known.")
    ] = None


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `agent.invoke`."""

    exit_code: Annotated[int, field("The agent's exit code; not 0 fails the iteration.")]
    stdout: Tail
    stderr: Tail
    stdout_path: Annotated[str | None, field("The whole output, if it was kept.")] = None
    claimed: Annotated[bool | None, field("The task is done, like `samuel run done`: the checks decide.")] = None
    claims_by_exit: Annotated[
        bool | None,
        field("A clean exit that leaves changed files is the claim: this agent cannot run `samuel run done`."),
    ] = None
    skipped: Annotated[bool | None, field("The task need not be done, like `samuel run skip`.")] = None
    blocked: Annotated[bool | None, field("The task cannot be done, like `samuel run block`.")] = None
    reason: Annotated[str | None, field("Why it is skipped or blocked; needed then.")] = None
    ending: Annotated[
        EndingReport | None, field("How the agent ended; without it, the exit code decides: ok or crashed.")
    ] = None
    question: Annotated[
        str | None, field("What a person has to decide, like `samuel run ask`: the task waits for the answer.")
    ] = None
    options: Annotated[list[str] | None, field("Possible answers to the question.")] = None
    data: dict[str, Any] | None = None


class AfterAgentInvoke(LoopEvent, frozen=True, kw_only=True, tag=names.AFTER_AGENT_INVOKE):
    """Fired when the agent process has ended."""

    exit_code: Annotated[int, field("The agent's exit code.")]
    stdout: Tail = ""
    stderr: Tail = ""
    usage: UsageCounts = msgspec.field(default_factory=dict)
    duration_ms: Annotated[
        float | UnsetType, field("How long the agent ran. Left out where none was started, as in a dry run.")
    ] = UNSET


QualityCorner = Literal["before", "own", "merged", "claim"]


class CheckedCorner(msgspec.Struct, frozen=True, kw_only=True):
    """One check that ran for a claim."""

    command: Annotated[str, field("The command.")]
    corner: Annotated[str, field("Which tests ran on which source, such as `own` or `old tests`.")]
    passed: Annotated[bool, field("Whether it passed.")]


class ClaimedWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work on a claimed task, which the checks have passed."""

    tree: Annotated[str, field("The git tree with the work.")]
    base: Annotated[str, field("The git tree before it; `git diff base tree` is the work.")]
    grade: Annotated[str, field("What the checks have shown: the grade that the task will have.")]
    rests_on: Annotated[str, field("What the grade rests on, in words.")]
    checks: Annotated[list[CheckedCorner], field("Each check that ran.", bulk=True)] = msgspec.field(
        default_factory=list
    )


class QualityCheck(LoopEvent, frozen=True, kw_only=True, tag=names.QUALITY_CHECK):
    """Checks the work; no task is completed before it passed."""

    commands: Annotated[list[str], field("The project's own checks, in order, and then those of the task.")]
    task: TaskRow = msgspec.field(default_factory=dict)
    merged: Annotated[
        list[str] | UnsetType, field("The ids of the tasks whose work is merged here, before it lands.")
    ] = UNSET
    commit: Annotated[str | UnsetType, field("The commit that is checked before it lands.")] = UNSET
    corner: Annotated[
        QualityCorner,
        field(
            "What is judged: the project `before` the first agent, an agent's `own` work, work that is `merged` "
            "before it lands, or a `claim` that the checks have passed in every other corner. The last is fired "
            "where `review` is on, without commands."
        ),
    ] = "own"
    claim: Annotated[ClaimedWork | UnsetType, field("The work, in the corner `claim`.")] = UNSET


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One problem that a quality check found."""

    source: Annotated[str, field("The check that found it.")]
    message: Annotated[str, field("What is wrong.")]
    command: Annotated[str | None, field("The command that failed.")] = None
    output_tail: Annotated[str | None, field("The end of its output.", bulk=True)] = None


FailureKind = Literal["assertion", "missing", "error"]


class CheckRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one check command."""

    command: Annotated[str, field("The command.")]
    passed: Annotated[bool, field("True when it ended with exit code 0 and no test of its report failed.")]
    exit_code: Annotated[int | None, field("Null if it was killed or could not be started.")] = None
    seconds: Annotated[float, field("How long it took.")] = 0.0
    output_tail: Annotated[str, field("The end of its output.", bulk=True)] = ""
    tests: Annotated[
        dict[str, Literal["passed", "failed", "skipped"]] | None,
        field("Each test of its report by id; null if it wrote none.", bulk=True),
    ] = None
    ran: Annotated[int | None, field("How many tests ran, without skipped ones; null if that is not known.")] = (
        None
    )
    kinds: Annotated[
        dict[str, FailureKind] | None,
        field(
            "Why each failed test failed: an assertion, a name that does not exist, or anything else.", bulk=True
        ),
    ] = None
    failure_kind: Annotated[FailureKind, field("Why the command failed, where its tests are not known.")] = "error"
    flaky: Annotated[bool, field("True when it failed, and passed when the loop ran it once more.")] = False


class ReviewFinding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem that a reviewer found."""

    file: Annotated[str, field("The file.")]
    line: Annotated[int | None, field("The line in the new file; null if it is about no line.")]
    severity: Annotated[Literal["critical", "high", "medium", "low"], field("How bad it is.")]
    what: Annotated[str, field("What is wrong.")]
    shows: Annotated[str, field("What would show it: an input, a command or a test.")]


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of the work on a claimed task."""

    reviewer: Annotated[str, field("The agent that read it.")]
    verdict: Annotated[Literal["accept", "refuse", "none"], field("Its verdict; `none` if it gave none.")]
    lens: Annotated[str, field("What it looked at: `work`, `security` or `tests`.")] = "work"
    findings: Annotated[list[ReviewFinding], field("What it found.", bulk=True)] = msgspec.field(
        default_factory=list
    )
    why: Annotated[str, field("Why there is no verdict.")] = ""
    seconds: Annotated[float, field("How long it took.")] = 0.0
    usage: UsageCounts = msgspec.field(default_factory=dict)


class QualityResult(Verdict, frozen=True, kw_only=True):
    """The result of `quality.check`."""

    failures: Annotated[list[Failure], field("The problems found; empty when all checks pass.", bulk=True)] = (
        msgspec.field(default_factory=list)
    )
    checks: Annotated[list[CheckRun], field("Each command that ran.", bulk=True)] = msgspec.field(
        default_factory=list
    )
    reviews: Annotated[list[Review], field("Each reading of the work, in the corner `claim`.", bulk=True)] = (
        msgspec.field(default_factory=list)
    )


class BeforeLand(LoopEvent, frozen=True, kw_only=True, tag=names.BEFORE_LAND):
    """Asks whether the work of a lane may land. If not, its task waits for `samuel run land`, with the reason."""

    task: TaskRow
    commit: Annotated[str, field("The commit with the work; `git diff base commit` is what the agent did.")]
    base: Annotated[str, field("The commit that the agent began with.")]
    branch: Annotated[str, field("The branch that it lands on.")]
    files: Annotated[list[str], field("The paths that the work changes.", bulk=True)] = msgspec.field(
        default_factory=list
    )


class AfterLand(LoopEvent, frozen=True, kw_only=True, tag=names.AFTER_LAND):
    """Fired when a branch has moved to a checked merge."""

    tasks: Annotated[list[str], field("The ids of the tasks that landed with it.")]
    commit: Annotated[str, field("The commit that the branch has now.")]
    branch: Annotated[str, field("The branch.")]


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question of an agent; its task waits for the answer."""

    id: Annotated[str, field("What `samuel run answer` takes.")]
    text: Annotated[str, field("The question.")]
    options: Annotated[list[str], field("Possible answers.")] = msgspec.field(default_factory=list)


class AfterIteration(LoopEvent, frozen=True, kw_only=True, tag=names.AFTER_ITERATION):
    """Fired when the iteration is settled."""

    task: TaskRow
    outcome: Annotated[IterationOutcome, field("What came of the iteration.")]
    usage: UsageCounts = msgspec.field(default_factory=dict)
    question: Annotated[AskedQuestion | UnsetType, field("What the agent asked, with the outcome `asked`.")] = (
        UNSET
    )


class AfterLoop(LoopEvent, frozen=True, kw_only=True, tag=names.AFTER_LOOP):
    """Fired on every way out of the loop."""

    iterations_run: Annotated[int, field("How many iterations were run.")]
    exit_reason: Annotated[ExitReason, field("Why the loop ended.")]
    usage: UsageCounts = msgspec.field(default_factory=dict)
