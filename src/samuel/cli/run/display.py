"""Displays of a run, made from the loop's reports: plain lines for pipes, a live picture on a terminal."""

from __future__ import annotations

import codecs
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, assert_never

from samuel.events.endings import IterationOutcome
from samuel.loop.reports import (
    AgentActivity,
    AgentChanged,
    AgentEnded,
    AgentOutputChunk,
    BaselineChecked,
    CheckEnded,
    DiscoveryChosen,
    HandlerMessage,
    IterationFailed,
    IterationSettled,
    IterationStarted,
    LoopWarning,
    QuestionAsked,
    Report,
    RunEnded,
    RunRefused,
    RunResumed,
    RunStarted,
    StepStarted,
    TaskFileUnreadable,
    WaitStarted,
    WorkPutAway,
)
from samuel.printable import safe

if TYPE_CHECKING:
    from rich.live import Live


LOOKING = "looking for tasks"


class PlainDisplay:
    """One line for everything that a reader of a log file would look for."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._closed = False
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # chunks may end within a character
        self._in_a_line = False  # of the agent's output

    def showing(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def __call__(self, report: Report) -> None:
        if isinstance(report, AgentOutputChunk):
            if self._verbose:
                self._write(safe(self._decode(report.chunk)), whole=False)
        elif line := self.line(report):
            self._write(safe(line) + "\n")

    def _write(self, text: str, whole: bool = True) -> None:
        """Write to the output while there is one: a closed terminal or `| head` must not end the run."""
        if self._closed or not text:
            return
        if whole and self._in_a_line:
            text = f"\n{text}"
        self._in_a_line = not text.endswith("\n")
        try:
            self._put(text)
        except OSError:
            self._closed = True

    def _put(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def line(self, report: Report) -> str:
        """What to print for a report; "" for nothing."""
        match report:
            case RunResumed():
                return f"resuming run {report.run_id} at iteration {report.iteration}"
            case RunStarted():
                pending = plural(report.statuses.count("pending"), "task")
                limit = plural(report.max_iterations, "iteration")
                return f"{pending} to do, {report.statuses.count('completed')} done, at most {limit}"
            case RunRefused():
                return f"  {IterationOutcome.ABORTED}: {first_line(report.why)}"
            case IterationStarted():
                return f"iteration {report.iteration}/{report.max_iterations}: {subject(report)}"
            case DiscoveryChosen():
                return f"  {LOOKING}"
            case AgentEnded():
                return f"  agent: exit code {report.exit_code}{cost(report.usage)}"
            case CheckEnded():
                return f"  check {check_result(report)}"
            case IterationFailed():
                return f"  {report.outcome}: {first_line(report.why)}"
            case LoopWarning():
                return f"  warning: {report.text}"
            case HandlerMessage():
                return f"  {report.text}"
            case TaskFileUnreadable():
                return f"waiting: the task file cannot be read\n{report.why}"
            case IterationSettled():
                return settled_line(report)
            case RunEnded():
                counts = ", ".join(f"{count} {status}" for status, count in report.counts.items() if count)
                end = f"ended: {report.reason} after {plural(report.iterations, 'iteration')}"
                return f"{end}{'; ' if counts else ''}{counts}{cost(report.usage)}"
            case BaselineChecked():
                return f"  baseline: {', '.join(report.failing) or 'ok'}"
            case WaitStarted():
                return f"  waiting for {report.agent}: {report.why}"
            case AgentChanged():
                return f"  {report.agent} takes over: {report.why}"
            case WorkPutAway():
                return f"  kept the changes of task {report.task_id} in {report.ref}"
            case QuestionAsked():
                return f"  question about task {report.task_id}: {report.question}"
            case StepStarted() | AgentOutputChunk() | AgentActivity():
                return ""
            case _:
                assert_never(report)


class JsonDisplay(PlainDisplay):
    """For `--json`: collects warnings for the answer on stdout, and says on stderr if the loop has to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: dict[str, None] = {}  # each once, in the order they came

    def line(self, report: Report) -> str:
        if isinstance(report, LoopWarning):
            self.warnings.setdefault(report.text)
        return super().line(report) if isinstance(report, TaskFileUnreadable) else ""

    def _put(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class LiveDisplay(PlainDisplay):
    """The current task, step and progress bar; the plain lines scroll away above them."""

    def __init__(self, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._live: Live | None = None
        self._started = time.monotonic()
        self._subject = "starting"
        self._step = ""
        self._iteration = self._max_iterations = 0
        self._check = ""
        self._usage: Mapping[str, Any] = {}
        self._statuses: Sequence[str] = ()

    def showing(self) -> AbstractContextManager[Any]:
        from rich.console import Console
        from rich.live import Live

        console = Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
        self._live = Live(get_renderable=self._picture, console=console, refresh_per_second=4, transient=True)
        return self._live

    def __call__(self, report: Report) -> None:
        match report:
            case StepStarted():
                self._step = report.event
            case RunStarted():
                self._statuses, self._max_iterations = report.statuses, report.max_iterations
            case IterationStarted():
                self._iteration, self._max_iterations = report.iteration, report.max_iterations
                self._subject, self._check = subject(report), ""
            case DiscoveryChosen():
                self._subject = LOOKING
            case CheckEnded():
                self._check = check_result(report)
            case IterationSettled():
                self._statuses, self._usage = report.statuses, report.usage
            case (
                AgentActivity()
                | WaitStarted()
                | AgentChanged()
                | BaselineChecked()
                | WorkPutAway()
                | QuestionAsked()
            ):
                pass
            case RunResumed() | RunRefused() | RunEnded() | IterationFailed() | AgentEnded() | AgentOutputChunk():
                pass
            case LoopWarning() | HandlerMessage() | TaskFileUnreadable():
                pass
            case _:
                assert_never(report)
        super().__call__(report)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        done = sum(status in ("completed", "skipped") for status in self._statuses)
        seconds = time.monotonic() - self._started
        grid = Table.grid(padding=(0, 1))
        grid.add_row(
            ProgressBar(total=max(len(self._statuses), 1), completed=done, width=24),
            Text(f"{done}/{plural(len(self._statuses), 'task')}"),
            Text(f"iteration {self._iteration}/{self._max_iterations}, {elapsed(seconds)}"),
            Text(cost(self._usage).removeprefix(", ")),
        )
        current = Text(safe(self._subject, keep=""), style="bold", no_wrap=True, overflow="ellipsis")
        step = Text(f"{self._step}  {safe(self._check, keep='')}", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(current, step, grid)


def subject(report: IterationStarted) -> str:
    """What an iteration is about: its task, or the search for tasks."""
    task = report.task
    if task is None:
        return LOOKING if report.mode == "discovery" else "no task"
    attempt = f" (attempt {task.attempts + 1})" if task.attempts else ""
    return f"{task.id} {task.title}{attempt}"


def settled_line(report: IterationSettled) -> str:
    """The result of an iteration; "" if it failed, since the reason was printed already."""
    completed = report.outcome is IterationOutcome.COMPLETED
    if report.mode == "discovery" and (completed or report.outcome is IterationOutcome.INCOMPLETE):
        return f"  found {plural(report.new_tasks, 'new task') if completed else 'no new tasks'}"
    if not completed:
        return ""
    done = report.statuses.count("completed")
    return f"  completed: {done} of {plural(len(report.statuses), 'task')} completed"


def check_result(report: CheckEnded) -> str:
    return f"`{report.command}`: {'ok' if report.passed else 'FAILED'} ({report.seconds:.1f}s)"


def first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cost(usage: Mapping[str, Any]) -> str:
    """`, 12,345 tokens, $0.12`, for agents that report their usage; "" for others."""
    tokens = sum(int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens"))
    parts = [f"{tokens:,} tokens"] if tokens else []
    if usage.get("cost_usd"):
        parts.append(f"${usage['cost_usd']:.2f}")
    return f", {', '.join(parts)}" if parts else ""


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
