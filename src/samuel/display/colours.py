"""The colours of a run's lines on a terminal: green is done, red failed, yellow waits for something or someone."""

from __future__ import annotations

import os
import sys

from samuel.events.endings import ExitReason, IterationOutcome
from samuel.evidence.corner import MUST_FAIL
from samuel.history import notices

RED, GREEN, YELLOW = "31", "32", "33"

_NOBODY_FAILED = (
    *(IterationOutcome.LIMITED, IterationOutcome.UNAVAILABLE, IterationOutcome.OVER_BUDGET),
    *(IterationOutcome.ASKED, IterationOutcome.GATED, IterationOutcome.RESTARTED),
)
_UNFINISHED = (ExitReason.WAITING, ExitReason.BUDGET, ExitReason.INTERRUPTED, ExitReason.MAX_ITERATIONS)
_COLOURS = {
    **dict.fromkeys((notices.LostTests, notices.RunRefused, notices.TaskFileUnreadable), RED),
    **dict.fromkeys((notices.WaitStarted, notices.AgentChanged, notices.QuestionAsked), YELLOW),
    **dict.fromkeys((notices.TaskDecided, notices.LoopWarning), YELLOW),
}
"""Of the reports that have always the same one."""


def terminal_has_colours() -> bool:
    """Whether standard output is a terminal on which the user wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str) -> str:
    """`text` with its first line in this colour."""
    head, line_break, rest = text.partition("\n")
    return f"\x1b[{colour}m{head}\x1b[0m{line_break}{rest}" if colour else text


def colour_of(report: notices.Report) -> str:
    """The colour of a report's line; "" for that of any other text."""
    match report:
        case notices.IterationSettled():
            done = report.outcome is IterationOutcome.COMPLETED
            return YELLOW if report.grade in ("unverified", "disputed") else GREEN if done else ""
        case notices.IterationFailed():
            return YELLOW if report.outcome in _NOBODY_FAILED else RED
        case notices.CheckEnded():
            if report.corner in MUST_FAIL:
                return ""
            return RED if not report.passed else YELLOW if report.repeated else ""
        case notices.ReviewEnded():
            return {"refuse": RED, "none": YELLOW}.get(report.verdict, "")
        case notices.BaselineChecked():
            return "" if not report.failing else YELLOW if report.accepted else RED
        case notices.AgentEnded():
            return "" if report.exit_code == 0 else YELLOW
        case (
            notices.WaitStarted()
            | notices.AgentChanged()
            | notices.QuestionAsked()
            | notices.TaskDecided()
            | notices.LoopWarning()
        ):
            return YELLOW
        case notices.RunEnded():
            return YELLOW if report.reason in _UNFINISHED else RED if report.reason.exit_code else GREEN
        case _:
            return _COLOURS.get(type(report), "")
