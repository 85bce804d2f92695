"""What each lane of a run does at this moment, folded from the reports of the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from samuel.base.wording import first_line
from samuel.display.notice_lines import LOOKING, check_result, review_result, step_words, subject
from samuel.history import notices

MOST_ACTIONS = 50
MOST_MESSAGES = 20
LANDING = 0
"""The lane in which merges are checked; None is the work tree of the user."""


@dataclass
class LaneMoment:
    """What happens in one lane."""

    subject: str = ""
    iteration: int = 0
    started: float = 0.0
    step: str = ""
    step_started: float = 0.0
    details: str = ""
    """What the agent does, or how the last check ended."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    check: notices.CheckEnded | None = None
    """The last check of this iteration that has ended."""
    actions: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=MOST_ACTIONS))
    """What the agent did, in words, with the time."""

    @property
    def doing(self) -> str:
        return self.details or self.step

    def begin_step(self, words: str, at: float, details: str = "") -> None:
        self.details = details
        if words != self.step:
            self.step, self.step_started = words, at


class MomentBoard:
    """All lanes of a run, and what concerns the run as a whole."""

    def __init__(self) -> None:
        self.lanes: dict[int | None, LaneMoment] = {}
        self.landing = ""
        self.wait: notices.WaitStarted | None = None
        self.messages: deque[tuple[float, str]] = deque(maxlen=MOST_MESSAGES)
        """Warnings, and what handlers have to say, with the time."""

    @property
    def has_lanes(self) -> bool:
        return any(number is not None for number in self.lanes)

    def lane(self, number: int | None) -> LaneMoment:
        return self.lanes.setdefault(number, LaneMoment())

    def take(self, report: notices.Report, at: float) -> None:
        """Fold one report, which was made at this time."""
        match report:
            case notices.LaneReport():
                self._of_lane(report.lane, report.report, at)
            case notices.LandingStarted():
                more = f"; {report.waiting} under way" if report.waiting else ""
                self.landing = f"landing {', '.join(report.tasks)}{more}"
            case notices.WorkLanded():
                self.landing = f"landed {', '.join(report.tasks)}"
            case notices.WaitStarted():
                self.lane(None).begin_step("", at)
                self.wait = report
            case _:
                self._of_lane(None, report, at)

    def _of_lane(self, number: int | None, report: notices.Report, at: float) -> None:
        match report:
            case notices.LoopWarning():
                self.messages.append((at, f"warning: {first_line(report.text)}"))
            case notices.HandlerMessage():
                self.messages.append((at, first_line(report.text)))
            case _:
                _fold(self.lane(number), report, at)
                if number is None and isinstance(report, _STEPS):
                    self.wait = None


_STEPS = (
    notices.IterationStarted,
    notices.StepStarted,
    notices.CheckStarted,
    notices.CheckEnded,
    notices.ReviewStarted,
    notices.ReviewEnded,
)


def _fold(lane: LaneMoment, report: notices.Report, at: float) -> None:
    match report:
        case notices.IterationStarted():
            lane.subject, lane.iteration, lane.started = subject(report), report.iteration, at
            lane.usage, lane.check = {}, None
            lane.actions.clear()
            lane.begin_step("", at)
        case notices.DiscoveryChosen():
            lane.subject = LOOKING
        case notices.StepStarted():
            lane.begin_step(step_words(report.event), at)
        case notices.AgentActivity():
            words = first_line(report.text)
            if words and (not lane.actions or lane.actions[-1][1] != words):
                lane.actions.append((at, words))
            lane.details = words or lane.details
            lane.usage = report.usage or lane.usage
        case notices.AgentEnded():
            lane.usage = report.usage or lane.usage
            lane.details = "the agent has ended"
        case notices.CheckStarted():
            lane.begin_step(f"running `{report.command}`", at)
        case notices.CheckEnded():
            lane.check = report
            lane.begin_step(step_words("quality.check"), at, check_result(report))
        case notices.ReviewStarted():
            lane.begin_step(f"{report.agent} reviews the {report.lens}", at)
        case notices.ReviewEnded():
            lane.begin_step(step_words("quality.check"), at, review_result(report))
        case _:
            pass
