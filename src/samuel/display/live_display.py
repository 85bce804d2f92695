"""The live display of a run on a terminal: a picture of the moment, below the lines that scroll away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from samuel.base.printable import safe
from samuel.base.wording import elapsed, plural
from samuel.display.line_display import FINISHING, PlainDisplay
from samuel.display.notice_lines import wait_line
from samuel.display.now.board import LANDING, MomentBoard
from samuel.history import notices
from samuel.history.budgets import add_usage
from samuel.history.cost_summary import cost

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text


def lane_lines(board: MomentBoard, now: float) -> list[str]:
    """A line for each lane: its task, how long it takes, what it costs, what it does; then the landing."""
    lines = []
    for number in sorted(number for number in board.lanes if number):
        lane = board.lane(number)
        if lane.subject:
            age = elapsed(now - lane.started)
            lines.append(f"[{number}] {lane.subject}  {age}{cost(lane.usage)}  {lane.doing}".rstrip())
    doing = board.lane(LANDING).doing
    return [*lines, *([f"{board.landing}  {doing}".rstrip()] if board.landing else [])]


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
        self._started = monotonic()
        self._iteration = self._max_iterations = 0
        self._usage: Mapping[str, Any] = {}  # of the run, up to the last iteration that is settled
        self._statuses: Sequence[str] = ()
        self._stopping = False
        self._board = MomentBoard()
        self._here = self._board.lane(None)  # the work tree of the user
        self._here.subject = "starting"

    def showing(self) -> AbstractContextManager[Any]:
        from rich.console import Console
        from rich.live import Live

        console = Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
        self._started = self._here.step_started = self._monotonic()  # questions before the run took time, too
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
        self._board.take(report, self._monotonic())
        match report:
            case notices.LaneReport(report=notices.IterationStarted() as started):
                self._iteration = max(self._iteration, started.iteration)
            case notices.RunStarted():
                self._statuses, self._max_iterations = report.statuses, report.max_iterations
            case notices.IterationStarted():
                self._iteration, self._max_iterations = report.iteration, report.max_iterations
            case notices.AgentOutputChunk():
                if report.readable:
                    self._here.details = self._agent_text.last_line
            case notices.IterationSettled():
                self._statuses, self._usage, self._here.usage = report.statuses, report.usage, {}
            case _:
                pass

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
            _text(cost(add_usage(self._usage, self._here.usage)).removeprefix(", ")),
        )
        stopping = [_text(FINISHING, "yellow")] if self._stopping else []
        if self._board.has_lanes:
            waits = self._moment() if self._board.wait is not None else []
            lines = lane_lines(self._board, self._monotonic())
            return Group(*(_text(line) for line in lines), *waits, *stopping, grid)
        return Group(_text(self._here.subject, "bold"), *self._moment(), *stopping, grid)

    def _moment(self) -> list[Text]:
        """The step with its time, and below it what the agent does."""
        here = self._here
        if self._board.wait is not None:
            return [_text(wait_line(self._board.wait, self._now()), "yellow")]
        if not here.step:
            return [_text("")]
        step = f"{here.step}  {elapsed(self._monotonic() - here.step_started)}"
        return [_text(step, "dim"), *([_text(f"  {here.details}", "dim")] if here.details else [])]


def _text(words: str, style: str = "") -> Text:
    """One line that is cut, never wrapped."""
    from rich.text import Text

    return Text(safe(words, keep=""), style=style, no_wrap=True, overflow="ellipsis")
