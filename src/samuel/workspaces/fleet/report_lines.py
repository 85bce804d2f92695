"""The reports of an attempt as lines, and back."""

from __future__ import annotations

from typing import cast

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import SamuelError
from samuel.history import notices as reports
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
    reports.CheckFilesChanged,
    reports.IterationFailed,
    reports.AcceptanceWritten,
    reports.HandlerMessage,
    reports.LoopWarning,
    reports.TaskFileUnreadable,
)
"""What an attempt reports; the rest is about a whole run."""

BY_NAME = {kind.__name__: kind for kind in SENT}


def report_line(report: Report) -> ReportLine | None:
    """The line for a report; None if it does not concern the coordinator."""
    if not isinstance(report, SENT):
        return None
    return ReportLine(type(report).__name__, msgspec.to_builtins(report))


def report_of(line: ReportLine) -> Report:
    """Raises SamuelError for what is not a report of an attempt."""
    kind = BY_NAME.get(line.kind)
    if kind is None:
        raise SamuelError(f"`{line.kind}` is not a report of an attempt")
    try:
        report = cast(Report, convert(line.report, kind))
    except msgspec.MsgspecError as error:
        raise SamuelError(f"a report `{line.kind}` cannot be read: {error}") from None
    return report
