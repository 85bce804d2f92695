"""How an iteration and a run can end: two closed sets, each value with its meaning.

The values are written to run.json, to the journal and to `--json`, and handlers compare them as strings. The
tables in the documentation are checked against this file.
"""

from __future__ import annotations

from enum import StrEnum


class IterationOutcome(StrEnum):
    """What came of one iteration of the loop."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> IterationOutcome:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    COMPLETED = (
        "completed",
        "the agent claimed the task and the checks passed; in discovery: tasks were added",
    )
    INCOMPLETE = (
        "incomplete",
        "the checks passed, but the task was not claimed, or the agent skipped or blocked it with a reason; in "
        "discovery: no task was added",
    )
    QUALITY_FAILED = ("quality_failed", "a check failed")
    UNPROVEN = (
        "unproven",
        "the checks passed, but nothing shows that the task is done; the claim goes back once, and no attempt is "
        "counted",
    )
    DISPUTED = (
        "disputed",
        "tests fail that were there before, the task does not own them, and the agent insists; a person decides",
    )
    REVIEW_FAILED = (
        "review_failed",
        "the checks passed, but a reviewer refused the work; the next attempt reads its findings, or a person "
        "decides",
    )
    REVIEW_UNAVAILABLE = (
        "review_unavailable",
        "the checks passed, but a reviewer gave no verdict; the task waits for a person, and no attempt is "
        "counted",
    )
    AGENT_FAILED = (
        "agent_failed",
        "the agent ended with an exit code other than 0, reached `agent_timeout` or could not be started; the "
        "checks did not run",
    )
    LIMITED = ("limited", "the usage limit of the agent is reached; no attempt is counted")
    UNAVAILABLE = (
        "unavailable",
        "the agent could not work: its service is overloaded or unreachable, or it is not logged in; no attempt "
        "is counted",
    )
    OVER_BUDGET = ("over_budget", "the agent was ended because a budget was used up; no attempt is counted")
    RESTARTED = (
        "restarted",
        "`samuel run say --now` ended the agent: its work is kept and it starts again; no attempt is counted",
    )
    ASKED = ("asked", "the agent asked a question; its task waits for the answer")
    STALLED = ("stalled", "no file and no task changed, and the task was not claimed")
    ABORTED = (
        "aborted",
        "a strict handler failed, a call was denied, a protected file changed, the prompt was empty, the run was "
        "stopped, or the git repository was lost",
    )
    CONFLICT = (
        "conflict",
        "the checks passed in the lane, but the work does not fit what landed meanwhile; the next attempt reads "
        "the conflict",
    )
    GATED = ("gated", "`iteration.gate` ended the run before the agent started")


class ExitReason(StrEnum):
    """Why a run ended."""

    meaning: str
    exit_code: int

    def __new__(cls, value: str, meaning: str, exit_code: int) -> ExitReason:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.exit_code = exit_code
        return member

    QUEUE_EMPTY = ("queue_empty", "every task is completed or skipped", 0)
    MAX_ITERATIONS = ("max_iterations", "the requested number of iterations ran", 0)
    BUDGET = ("budget", "`max_duration` is over, or a budget of tokens or money is used up", 0)
    DISCOVERY_EXHAUSTED = ("discovery_exhausted", "pilot mode: two discoveries in a row added no task", 0)
    GATE_STOP = ("gate_stop", "`iteration.gate` returned `continue: false`", 0)
    TASKS_BLOCKED = (
        "tasks_blocked",
        "tasks are left, and each of them is blocked or depends on a blocked task",
        1,
    )
    CONSECUTIVE_FAILURES = (
        "consecutive_failures",
        "`max_consecutive_failures` tasks in a row failed",
        1,
    )
    WAITING = ("waiting", "tasks are left, and they wait for answers to the questions of agents", 1)
    BASELINE_FAILED = ("baseline_failed", "a check failed before the first agent was started", 1)
    BASE_BROKEN = (
        "base_broken",
        "with lanes: the checks fail on the branch itself, without the work of any task",
        1,
    )
    AGENT_UNAVAILABLE = (
        "agent_unavailable",
        "no agent could work: not logged in, or its limit or outage lasts longer than `max_wait`",
        1,
    )
    NO_PLACE = (
        "no_place",
        "with other machines: none of them can work, and this one has no lane",
        1,
    )
    STRICT_FAILURE = ("strict_failure", "a strict handler of `before:loop` or `iteration.gate` failed", 1)
    ERROR = (
        "error",
        "something other than a handler failed, for example the git repository was removed; an error that Samuel "
        "cannot handle keeps its own exit code",
        1,
    )
    INTERRUPTED = ("interrupted", "Ctrl-C, SIGTERM, SIGHUP or `samuel run stop`", 130)
