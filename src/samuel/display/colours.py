"""The colours of a run's lines on a terminal: green is done, red failed, yellow waits for something or someone."""

from __future__ import annotations

import os
import sys

from samuel.events.endings import ExitReason, IterationOutcome
from samuel.evidence.corner import MUST_FAIL
from samuel.history.notices import (
    AgentChanged,
    AgentEnded,
    BaselineChecked,
    CheckEnded,
    IterationFailed,
    IterationSettled,
    LoopWarning,
    LostTests,
    QuestionAsked,
    Report,
    RunEnded,
    RunRefused,
    TaskDecided,
    TaskFileUnreadable,
    WaitStarted,
)

RED, GREEN, YELLOW = "31", "32", "33"

_NOBODY_FAILED = (
    *(IterationOutcome.LIMITED, IterationOutcome.UNAVAILABLE, IterationOutcome.OVER_BUDGET),
    *(IterationOutcome.ASKED, IterationOutcome.GATED),
)
_UNFINISHED = (ExitReason.WAITING, ExitReason.BUDGET, ExitReason.INTERRUPTED, ExitReason.MAX_ITERATIONS)


def terminal_has_colours() -> bool:
    """Whether standard output is a terminal on which the user wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str) -> str:
    """`text` with its first line in this colour."""
    head, line_break, rest = text.partition("\n")
    return f"\x1b[{colour}m{head}\x1b[0m{line_break}{rest}" if colour else text


def colour_of(report: Report) -> str:
    """The colour of a report's line; "" for that of any other text."""
    match report:
        case IterationSettled():
            done = report.outcome is IterationOutcome.COMPLETED
            return YELLOW if report.grade in ("unverified", "disputed") else GREEN if done else ""
        case IterationFailed():
            return YELLOW if report.outcome in _NOBODY_FAILED else RED
        case CheckEnded():
            if report.corner in MUST_FAIL:
                return ""
            return RED if not report.passed else YELLOW if report.repeated else ""
        case LostTests():
            return RED
        case BaselineChecked():
            return "" if not report.failing else YELLOW if report.accepted else RED
        case RunRefused() | TaskFileUnreadable():
            return RED
        case AgentEnded():
            return "" if report.exit_code == 0 else YELLOW
        case WaitStarted() | AgentChanged() | QuestionAsked() | TaskDecided() | LoopWarning():
            return YELLOW
        case RunEnded():
            return YELLOW if report.reason in _UNFINISHED else RED if report.reason.exit_code else GREEN
        case _:
            return ""
