"""The reports of an attempt as lines, and back."""

from __future__ import annotations

from samuel.history import notices as reports
from samuel.history.notice_data import kinds, notice_data, notice_of
from samuel.history.notices import Report
from samuel.workspaces.fleet.wire import ReportLine

SENT = (
    reports.IterationStarted,
    reports.DiscoveryChosen,
    reports.StepStarted,
    reports.AgentOutputChunk,
    reports.AgentActivity,
    reports.AgentEnded,
    reports.WorkPutAway,
    reports.QuestionAsked,
    reports.CheckStarted,
    reports.CheckEnded,
    reports.ReviewStarted,
    reports.ReviewEnded,
    reports.CheckFilesChanged,
    reports.IterationFailed,
    reports.AcceptanceWritten,
    reports.HandlerMessage,
    reports.LoopWarning,
    reports.TaskFileUnreadable,
)
"""What an attempt reports; the rest is about a whole run."""

BY_NAME = kinds(*SENT)


def report_line(report: Report) -> ReportLine | None:
    """The line for a report; None if it does not concern the coordinator."""
    return ReportLine(*notice_data(report)) if isinstance(report, SENT) else None


def report_of(line: ReportLine) -> Report:
    """Raises SamuelError for what is not a report of an attempt."""
    return notice_of(line.kind, line.report, BY_NAME)
