"""The two ways in which an iteration ends early: a request to stop the run, and a step that cannot go on."""

from __future__ import annotations

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.events.endings import ExitReason, IterationOutcome

_OUTCOMES = {
    EndingKind.LIMITED: IterationOutcome.LIMITED,
    EndingKind.OVER_BUDGET: IterationOutcome.OVER_BUDGET,
    EndingKind.RESTARTED: IterationOutcome.RESTARTED,
}


class Stop:
    """A request to end the loop. Set from a signal handler, read between steps."""

    requested = False


class IterationEnded(Exception):
    """The iteration cannot go on; the run goes on with the next one."""

    def __init__(self, outcome: IterationOutcome, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome
        self.why = why


class AgentTrouble(IterationEnded):
    """The agent could not work, or a budget is used up. That says nothing about the task."""

    def __init__(self, ending: AgentEnding) -> None:
        super().__init__(_OUTCOMES.get(ending.kind, IterationOutcome.UNAVAILABLE), ending.reason)
        self.ending = ending


class RunStopped(IterationEnded):
    """Neither the iteration nor its run can go on. The iteration is not counted."""

    def __init__(self, outcome: IterationOutcome, why: str, exit_reason: ExitReason) -> None:
        super().__init__(outcome, why)
        self.exit_reason = exit_reason


def interrupted() -> RunStopped:
    """The end of an iteration and of its run because a stop was requested."""
    return RunStopped(IterationOutcome.ABORTED, "interrupted", ExitReason.INTERRUPTED)
