"""The live display of a run on a terminal: a picture of the moment, below the lines that scroll away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from samuel.base.printable import safe
from samuel.base.wording import elapsed, first_line, plural
from samuel.display.line_display import FINISHING, PlainDisplay
from samuel.display.notice_lines import LOOKING, check_result, step_words, subject, wait_line
from samuel.history import notices
from samuel.history.budgets import add_usage
from samuel.history.cost_summary import cost

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text


@dataclass
class _LaneMoment:
    subject: str = ""
    doing: str = ""
    started: float = 0.0
    usage: Mapping[str, Any] = field(default_factory=dict)


class LaneBoard:
    """What the live display shows of a run with lanes: a line for each lane, and one for what lands."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lanes: dict[int, _LaneMoment] = {}
        self._landing = ""

    @property
    def is_used(self) -> bool:
        return bool(self._lanes)

    def __call__(self, report: notices.Report) -> None:
        match report:
            case notices.LaneReport():
                self._of_lane(self._lanes.setdefault(report.lane, _LaneMoment()), report.report)
            case notices.LandingStarted():
                more = f"; {report.waiting} under way" if report.waiting else ""
                self._landing = f"landing {', '.join(report.tasks)}{more}"
            case notices.WorkLanded():
                self._landing = f"landed {', '.join(report.tasks)}"
            case _:
                pass

    def _of_lane(self, lane: _LaneMoment, report: notices.Report) -> None:
        match report:
            case notices.IterationStarted():
                lane.subject, lane.started, lane.usage = subject(report), self._monotonic(), {}
                lane.doing = ""
            case notices.StepStarted():
                lane.doing = step_words(report.event)
            case notices.AgentActivity():
                lane.doing = first_line(report.text) or lane.doing
                lane.usage = report.usage or lane.usage
            case notices.AgentEnded():
                lane.usage = report.usage or lane.usage
                lane.doing = "the agent has ended"
            case notices.CheckStarted():
                lane.doing = f"running `{report.command}`"
            case notices.CheckEnded():
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


class LiveDisplay(PlainDisplay):
    """The current task, the step, what the agent does, and a progress bar."""

    def __init__(
        self,
        verbose: bool = False,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(verbose, now)
        self._monotonic = monotonic
        self._live: Live | None = None
        self._started = self._step_started = monotonic()
        self._subject = "starting"
        self._step = ""
        self._details = ""  # what the agent does, or the check that runs
        self._iteration = self._max_iterations = 0
        self._usage: Mapping[str, Any] = {}  # of the run, up to the last iteration that is settled
        self._agent_usage: Mapping[str, Any] = {}  # of the agent of this iteration
        self._statuses: Sequence[str] = ()
        self._waits: notices.WaitStarted | None = None
        self._stopping = False
        self._board = LaneBoard(monotonic)

    def showing(self) -> AbstractContextManager[Any]:
        from rich.console import Console
        from rich.live import Live

        console = Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
        self._started = self._step_started = self._monotonic()  # questions before the run took time, too
        self._live = Live(get_renderable=self._picture, console=console, refresh_per_second=4, transient=True)
        return self._live

    def stop_requested(self) -> None:
        """Answer in the picture, at its next refresh: any other text would leave a part of it on the screen."""
        self._stopping = True
        if self._live is None or not self._live.is_started:
            super().stop_requested()

    def _put(self, text: str) -> None:
        # rich goes up by the height of its last picture. If a refresh with another height came between that and
        # the output of the line, a line that was printed before would be erased.
        with self._live._lock if self._live is not None else nullcontext():
            super()._put(text)

    def __call__(self, report: notices.Report) -> None:
        super().__call__(report)
        self._board(report)
        match report:
            case notices.LaneReport(report=notices.IterationStarted() as started):
                self._iteration = max(self._iteration, started.iteration)
            case notices.StepStarted():
                self._begin_step(step_words(report.event))
            case notices.RunStarted():
                self._statuses, self._max_iterations = report.statuses, report.max_iterations
            case notices.IterationStarted():
                self._iteration, self._max_iterations = report.iteration, report.max_iterations
                self._subject, self._agent_usage = subject(report), {}
                self._begin_step("")
            case notices.DiscoveryChosen():
                self._subject = LOOKING
            case notices.AgentActivity():
                self._details = first_line(report.text) or self._details
                self._agent_usage = report.usage or self._agent_usage
            case notices.AgentOutputChunk():
                if report.readable:
                    self._details = self._agent_text.last_line
            case notices.AgentEnded():
                self._agent_usage = report.usage or self._agent_usage
            case notices.CheckStarted():
                self._begin_step(f"running `{report.command}`")
            case notices.CheckEnded():
                self._begin_step(step_words("quality.check"), check_result(report))
            case notices.WaitStarted():
                self._begin_step("")
                self._waits = report
            case notices.IterationSettled():
                self._statuses, self._usage, self._agent_usage = report.statuses, report.usage, {}
            case _:
                pass

    def _begin_step(self, words: str, details: str = "") -> None:
        self._waits = None
        self._details = details
        if words != self._step:
            self._step, self._step_started = words, self._monotonic()

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        done = sum(status in ("completed", "skipped") for status in self._statuses)
        grid = Table.grid(padding=(0, 1))
        grid.add_row(
            ProgressBar(total=max(len(self._statuses), 1), completed=done, width=24),
            _text(f"{done}/{plural(len(self._statuses), 'task')}"),
            _text(
                f"iteration {self._iteration}/{self._max_iterations}, {elapsed(self._monotonic() - self._started)}"
            ),
            _text(cost(add_usage(self._usage, self._agent_usage)).removeprefix(", ")),
        )
        stopping = [_text(FINISHING, "yellow")] if self._stopping else []
        if self._board.is_used:
            waits = self._moment() if self._waits is not None else []
            return Group(*(_text(line) for line in self._board.lines()), *waits, *stopping, grid)
        return Group(_text(self._subject, "bold"), *self._moment(), *stopping, grid)

    def _moment(self) -> list[Text]:
        """The step with its time, and below it what the agent does."""
        if self._waits is not None:
            return [_text(wait_line(self._waits, self._now()), "yellow")]
        if not self._step:
            return [_text("")]
        step = f"{self._step}  {elapsed(self._monotonic() - self._step_started)}"
        return [_text(step, "dim"), *([_text(f"  {self._details}", "dim")] if self._details else [])]


def _text(words: str, style: str = "") -> Text:
    """One line that is cut, never wrapped."""
    from rich.text import Text

    return Text(safe(words, keep=""), style=style, no_wrap=True, overflow="ellipsis")
