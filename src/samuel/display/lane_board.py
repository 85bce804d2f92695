"""What the live display shows of a run with lanes: a line for each lane, and one for what lands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from samuel.base.wording import elapsed, first_line
from samuel.display.notice_lines import check_result, step_words, subject
from samuel.history.cost_summary import cost
from samuel.history.notices import (
    AgentActivity,
    AgentEnded,
    CheckEnded,
    CheckStarted,
    IterationStarted,
    LandingStarted,
    LaneReport,
    Report,
    StepStarted,
    WorkLanded,
)


@dataclass
class _LaneMoment:
    subject: str = ""
    doing: str = ""
    started: float = 0.0
    usage: Mapping[str, Any] = field(default_factory=dict)


class LaneBoard:
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lanes: dict[int, _LaneMoment] = {}
        self._landing = ""

    @property
    def is_used(self) -> bool:
        return bool(self._lanes)

    def __call__(self, report: Report) -> None:
        match report:
            case LaneReport():
                self._of_lane(self._lanes.setdefault(report.lane, _LaneMoment()), report.report)
            case LandingStarted():
                more = f"; {report.waiting} under way" if report.waiting else ""
                self._landing = f"landing {', '.join(report.tasks)}{more}"
            case WorkLanded():
                self._landing = f"landed {', '.join(report.tasks)}"
            case _:
                pass

    def _of_lane(self, lane: _LaneMoment, report: Report) -> None:
        match report:
            case IterationStarted():
                lane.subject, lane.started, lane.usage = subject(report), self._monotonic(), {}
                lane.doing = ""
            case StepStarted():
                lane.doing = step_words(report.event)
            case AgentActivity():
                lane.doing = first_line(report.text) or lane.doing
                lane.usage = report.usage or lane.usage
            case AgentEnded():
                lane.usage = report.usage or lane.usage
                lane.doing = "the agent has ended"
            case CheckStarted():
                lane.doing = f"running `{report.command}`"
            case CheckEnded():
                lane.doing = check_result(report)
            case _:
                pass

    def lines(self) -> list[str]:
        """A line for each lane: its task, how long it takes, what it costs, what it does; then the landing."""
        lines = []
        for number in sorted(self._lanes):
            lane = self._lanes[number]
            if number and lane.subject:
                age = elapsed(self._monotonic() - lane.started)
                lines.append(f"[{number}] {lane.subject}  {age}{cost(lane.usage)}  {lane.doing}".rstrip())
        merge = self._lanes.get(0)
        doing = f"  {merge.doing}" if merge and merge.doing else ""
        return [*lines, *([f"{self._landing}{doing}"] if self._landing else [])]
