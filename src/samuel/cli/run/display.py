"""Seeing a run: plain lines for pipes, a live display on a terminal. Both are told the same things by the loop."""

from __future__ import annotations

import codecs
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from samuel.printable import safe

if TYPE_CHECKING:
    from rich.live import Live


LOOKING = "looking for tasks"


class PlainDisplay:
    """One line for everything a person would want to find in a log file."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._gone = False
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # chunks may end within a character
        self._in_a_line = False  # of the agent's

    def showing(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        if kind == "output":
            if self._verbose:
                self._write(safe(self._decode(facts["chunk"])), whole=False)
        elif line := self.line(kind, facts):
            self._write(safe(line) + "\n")

    def _write(self, text: str, whole: bool = True) -> None:
        """Nobody to read it any more, a closed terminal or `| head`, is no reason for the work to fail."""
        if self._gone or not text:
            return
        if whole and self._in_a_line:
            text = f"\n{text}"
        self._in_a_line = not text.endswith("\n")
        try:
            self._put(text)
        except OSError:
            self._gone = True

    def _put(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def line(self, kind: str, facts: Mapping[str, Any]) -> str:
        match kind:
            case "resumed":
                return f"going on with run {facts['run_id']} at iteration {facts['iteration']}"
            case "started":
                pending, limit = _many(facts["pending"], "task"), _many(facts["max"], "iteration")
                return f"{pending} to do, {facts['completed']} done, at most {limit}"
            case "iteration":
                return f"iteration {facts['iteration']}/{facts['max']}: {doing(facts)}"
            case "discovery":
                return f"  {LOOKING}"
            case "agent":
                return f"  agent: exit code {facts['exit_code']}{cost(facts['usage'])}"
            case "check":
                return f"  check {checked(facts)}"
            case "failed":
                return f"  {facts['outcome']}: {facts['why'].splitlines()[0] if facts['why'] else ''}"
            case "warning":
                return f"  warning: {facts['text']}"
            case "message":
                return f"  {facts['text']}"
            case "paused":
                return f"waiting: the task file cannot be read\n{facts['why']}"
            case "settled" if facts["outcome"] == "completed":
                return f"  completed: {counted(facts['tasks'])}"
            case "ended":
                counts = ", ".join(f"{count} {status}" for status, count in facts["counts"].items() if count)
                spent = cost(facts["usage"])
                ran = _many(facts["iterations"], "iteration")
                return f"ended: {facts['reason']} after {ran}{'; ' if counts else ''}{counts}{spent}"
        return ""


class OnlyWhatHolds(PlainDisplay):
    """For --json: stdout is the answer's. That the loop waits for somebody must be said all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: dict[str, None] = {}  # each once, in the order they came

    def line(self, kind: str, facts: Mapping[str, Any]) -> str:
        if kind == "warning":
            self.warnings.setdefault(facts["text"])
        return super().line(kind, facts) if kind == "paused" else ""

    def _put(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class LiveDisplay(PlainDisplay):
    """The task at hand, the step, the bar; what happened scrolls away above it."""

    def __init__(self, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._live: Live | None = None
        self._started = time.monotonic()
        self._task = "starting"
        self._step = ""
        self._iteration = self._max = 0
        self._check = ""
        self._usage: Mapping[str, Any] = {}
        self._tasks: Sequence[str] = ()

    def showing(self) -> AbstractContextManager[Any]:
        from rich.console import Console
        from rich.live import Live

        console = Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
        self._live = Live(get_renderable=self._picture, console=console, refresh_per_second=4, transient=True)
        return self._live

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        match kind:
            case "step":
                self._step = facts["event"]
            case "started":
                self._max = facts["max"]
            case "iteration":
                self._task, self._iteration, self._max = doing(facts), facts["iteration"], facts["max"]
            case "discovery":
                self._task = LOOKING
            case "check":
                self._check = checked(facts)
            case "settled":
                self._usage = facts["usage"]
        self._tasks = facts.get("tasks", self._tasks)
        super().__call__(kind, facts)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        done = sum(status in ("completed", "skipped") for status in self._tasks)
        grid = Table.grid(padding=(0, 1))
        grid.add_row(
            ProgressBar(total=max(len(self._tasks), 1), completed=done, width=24),
            Text(f"{done}/{len(self._tasks)} tasks"),
            Text(f"iteration {self._iteration}/{self._max}, {elapsed(time.monotonic() - self._started)}"),
            Text(cost(self._usage).removeprefix(", ")),
        )
        now = Text(safe(self._task, keep=""), style="bold", no_wrap=True, overflow="ellipsis")
        step = Text(f"{self._step}  {safe(self._check, keep='')}", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(now, step, grid)


def counted(statuses: Sequence[str]) -> str:
    done = sum(status == "completed" for status in statuses)
    return f"{done} of {len(statuses)} tasks completed"


def checked(facts: Mapping[str, Any]) -> str:
    return f"`{facts['command']}`: {'ok' if facts['ok'] else 'FAILED'} ({facts['seconds']:.1f}s)"


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cost(usage: Mapping[str, Any]) -> str:
    """` 12,345 tokens, $0.12`, for agents that say so."""
    tokens = sum(int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens"))
    parts = [f"{tokens:,} tokens"] if tokens else []
    if usage.get("cost_usd"):
        parts.append(f"${usage['cost_usd']:.2f}")
    return f", {', '.join(parts)}" if parts else ""


def doing(facts: Mapping[str, Any]) -> str:
    """What an iteration is about: its task, or the search for some."""
    task = facts["task"]
    if not task:
        return LOOKING if facts["mode"] == "discovery" else "no task"
    attempt = f" (attempt {task['attempts'] + 1})" if task["attempts"] else ""
    return f"{task['id']} {task['title']}{attempt}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
