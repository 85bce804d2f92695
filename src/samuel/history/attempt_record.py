"""What is recorded of each attempt and of each run, for `run history`, `run show` and the report."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from samuel.base.wording import plural
from samuel.bridges.coverage import Coverage
from samuel.clients.adapter.ending import AgentEnding
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.steering import Guidance
from samuel.tasks.grade import Grade

MAX_NAMED = 50  # tests in a record


class ReportedTests(msgspec.Struct, frozen=True, kw_only=True):
    """What the test reports of one check say."""

    passed: int = 0
    failed: tuple[str, ...] = ()
    """Ids of tests, at most 50."""
    skipped: int = 0
    names: tuple[str, ...] = ()
    """Ids of the tests that passed; empty if they are more than a record holds."""
    digest: str = ""
    """The sha256 of all ids with their results, so that runs can be compared whose names are not recorded."""


class CheckRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one check command."""

    command: str
    passed: bool
    exit_code: int | None = None  # None: killed, or not started
    seconds: float = 0.0
    output_tail: str = ""
    corner: str = "own"
    """Which tests ran on which source: `own`, `old tests`, `old source`, `before` the work, `planted`,
    `sealed`, or `sealed before` the work."""
    tree: str = ""
    """The git tree that it ran on; "" for `planted`, whose tree is made at random, and without git."""
    known_failure: bool = False
    """True: it failed before the first agent as well, and that was accepted."""
    tests: ReportedTests | None = None
    flaky: bool = False
    """True: it failed, and passed when it was run once more; the output is that of the failure."""


class EvidenceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What shows that a task was done."""

    grade: Grade
    rests_on: str
    """What the grade rests on, in words."""
    place: str = "in place"
    """Where the checks ran: `clean room`, or `in place`."""
    sandbox: str = ""
    """The kind of sandbox that the checks ran in; `host` is none. "" in records of older versions."""
    environment: str = ""
    """How what checks need and git does not have was kept from the agent, in words; "" if they need nothing."""
    fail_to_pass: tuple[str, ...] = ()
    """Tests that fail without the work and pass with it, at most 50; commands where the tests are not known."""
    shown_to_fail: str = ""
    """Whether the checks can fail: `yes`, or why that was not shown; "" if it was not tried."""
    sealed: str = ""
    """Whether sealed checks were hidden from the agent: `yes`, or `no (why)`; "" if there are none."""

    @property
    def words(self) -> str:
        """What the grade rests on, and whether sealed checks were hidden, if there are some."""
        return f"{self.rests_on}; sealed: {self.sealed}" if self.sealed else self.rests_on

    @property
    def where(self) -> str:
        """Where the checks ran, in which sandbox, and with which environment."""
        sandbox = f"in the sandbox {self.sandbox}" if self.sandbox else ""
        sandbox = "without a sandbox" if self.sandbox == "host" else sandbox
        return ", ".join(text for text in (self.place, sandbox, self.environment) if text)


class AcceptanceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The acceptance tests that an attempt was judged by, or wrote."""

    author: str = ""
    """The agent that wrote them."""
    tests: tuple[str, ...] = ()
    """Their names, at most 50; commands where the tests are not known."""
    files: tuple[str, ...] = ()
    hidden: int = 0
    """How many test functions the worker did not see."""
    why: str = ""
    """Why there are none, though they were wanted; "" if there are."""

    @property
    def words(self) -> str:
        if self.why:
            return f"none: {self.why}"
        hidden = f", {self.hidden} of them hidden from the worker" if self.hidden else ""
        return f"{plural(len(self.tests), 'test')} by {self.author}{hidden} ({', '.join(self.files)})"


class FindingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One problem that a reviewer found."""

    file: str
    line: int | None = None
    severity: str = ""
    what: str = ""
    shows: str = ""
    """What would show it."""

    @property
    def words(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} ({self.severity}): {self.what}" + (f" Shown by: {self.shows}" if self.shows else "")


class ReviewRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a reviewer said about the work of an attempt that had passed the checks."""

    verdict: str
    """`accept`, `refuse`, `none` if it gave no verdict, or `waived` if a person decided instead."""
    reviewer: str = ""
    lenses: tuple[str, ...] = ()
    """What each reading looked at."""
    findings: tuple[FindingRecord, ...] = ()
    why: str = ""
    """Why there is no verdict."""
    accepted_by: str = ""
    """The person who decided instead."""
    seconds: float = 0.0
    usage: dict[str, Any] = {}
    """Tokens and cost, which are part of the attempt's."""

    @property
    def words(self) -> str:
        match self.verdict:
            case "accept":
                further = [lens for lens in self.lenses if lens != "work"]
                lenses = f" (also for {' and '.join(further)})" if further else ""
                notes = f", with {plural(len(self.findings), 'note')}" if self.findings else ""
                return f"accepted by {self.reviewer}{lenses}{notes}"
            case "refuse":
                return f"refused by {self.reviewer}: {plural(len(self.findings), 'finding')}"
            case "waived":
                return f"not by an agent: accepted by {self.accepted_by}"
        return f"no verdict of {self.reviewer}: {self.why}"

    @property
    def refusal(self) -> str:
        """What the next attempt reads."""
        findings = "".join(f"\n- {finding.words}" for finding in self.findings)
        return f"`{self.reviewer}` reviewed the work and refused it{findings}"


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    added: int | None = None  # lines; None: a binary file
    removed: int | None = None


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One iteration of a run."""

    run_id: str
    iteration: int
    mode: str = "implementation"
    task_id: str = ""
    title: str = ""
    attempt: int = 1
    agent: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    outcome: IterationOutcome = IterationOutcome.INCOMPLETE
    why: str = ""
    exit_code: int | None = None
    ending: AgentEnding = AgentEnding()
    usage: dict[str, Any] = {}
    checks: tuple[CheckRecord, ...] = ()
    changed_files: tuple[ChangedFile, ...] = ()
    check_files: tuple[str, ...] = ()
    """Files that the checks run or read and that this attempt changed."""
    lost_tests: tuple[str, ...] = ()
    """Tests that ran before and were deleted, skipped or emptied by this attempt."""
    still_red: tuple[str, ...] = ()
    """Tests and commands that failed before this attempt, if it turned none of them green; at most 50."""
    grade: str = ""
    evidence: EvidenceRecord | None = None
    """What the grade rests on; None if the task was not claimed or the checks failed."""
    acceptance: AcceptanceRecord | None = None
    """The acceptance tests of its task; None if there were to be none."""
    review: ReviewRecord | None = None
    """What a reviewer said; None if none was asked."""
    contested: tuple[str, ...] = ()
    """Old tests that fail with its work, or that it removed or weakened, though its task does not own them."""
    predicate: dict[str, Any] = {}
    """The predicate of its receipt; empty unless the task is completed, in a git repository."""
    decided: str = ""
    """`skipped` or `blocked`, if the agent gave its task this status; the outcome is `incomplete` then."""
    commit: str = ""
    commit_error: str = ""
    """Why its work has no commit, though it should."""
    ref: str = ""
    """The ref that keeps a failed attempt."""
    log: str = ""
    notes: tuple[str, ...] = ()
    """What its agent and its checks did to the repository and to its files that a person has to know."""
    denials: tuple[str, ...] = ()
    coverage: Coverage | None = None
    """How many tool calls of its agent were judged by hooks; None if none were to judge them."""
    would_denials: tuple[str, ...] = ()
    """What observed guards would have denied."""
    new_tasks: int = 0
    lane: int | UnsetType = UNSET
    """The lane that it ran in; left out in a run without lanes."""
    machine: str | UnsetType = UNSET
    """The machine that it ran on; left out for the one of the coordinator."""
    guidance: tuple[Guidance, ...] = ()
    """What people said to it, which was in its prompt."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run: saved when it begins and when it ends."""

    run_id: str
    methodology: str
    agents: tuple[str, ...]
    started_at: float
    ended_at: float | None = None
    exit_reason: ExitReason | None = None
    exit_message: str = ""
    usage: dict[str, Any] = {}
    baseline: tuple[CheckRecord, ...] = ()
    unguarded: tuple[str, ...] = ()
    """Guards that an agent of this run could not honour, which was accepted."""
    branch: str = ""
    """The branch of the run's own that has its work; "" if that is on the branch of its user."""
    from_branch: str = ""
    """The branch that it came from; "" for none."""

    @property
    def baseline_failures(self) -> tuple[CheckRecord, ...]:
        """The checks that failed before the first agent, of a run that ended because of them."""
        if self.exit_reason is not ExitReason.BASELINE_FAILED:
            return ()
        return tuple(check for check in self.baseline if not check.passed)
