"""Seeing a run: plain lines for pipes, a live display on a terminal. Both are told the same things by the loop."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from samuel.cli.safe import safe

if TYPE_CHECKING:
    from rich.live import Live


class Lines:
    """One line for everything a person would want to find in a log file."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._max = 0

    def showing(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        if line := self.line(kind, facts):
            print(safe(line), flush=True)
        if kind == "output" and self._verbose:
            sys.stdout.write(safe(facts["chunk"].decode("utf-8", "replace")))
            sys.stdout.flush()

    def line(self, kind: str, facts: Mapping[str, Any]) -> str:
        match kind:
            case "resumed":
                return f"going on with run {facts['run_id']} at iteration {facts['iteration']}"
            case "started":
                self._max = facts["max"]
                return (
                    f"{facts['pending']} tasks to do, {facts['completed']} done, at most {facts['max']} iterations"
                )
            case "task":
                task = facts["task"]
                attempt = f" (attempt {task['attempts'] + 1})" if task["attempts"] else ""
                return f"iteration {facts['iteration']}/{self._max}: {task['id']} {task['title']}{attempt}"
            case "agent":
                return f"  agent: exit code {facts['exit_code']}{cost(facts['usage'])}"
            case "check":
                return (
                    f"  check `{facts['command']}`: {'ok' if facts['ok'] else 'FAILED'} ({facts['seconds']:.1f}s)"
                )
            case "failed":
                return f"  {facts['outcome']}: {facts['why'].splitlines()[0] if facts['why'] else ''}"
            case "warning":
                return f"  warning: {facts['text']}"
            case "paused":
                return f"waiting: the task file cannot be read\n{facts['why']}"
            case "settled" if facts["outcome"] == "completed":
                return f"  completed: {counted(facts['tasks'])}"
            case "ended":
                counts = ", ".join(f"{count} {status}" for status, count in facts["counts"].items() if count)
                spent = cost(facts["usage"])
                return f"ended: {facts['reason']} after {facts['iterations']} iterations; {counts}{spent}"
        return ""


class Display(Lines):
    """The task at hand, the step, the bar; what happened scrolls away above it."""

    def __init__(self, verbose: bool = False) -> None:
        super().__init__(verbose)
        self._live: Live | None = None
        self._task = "starting"
        self._step = ""
        self._usage: Mapping[str, Any] = {}
        self._tasks: Sequence[str] = ()

    def showing(self) -> AbstractContextManager[Any]:
        from rich.live import Live

        self._live = Live(get_renderable=self._picture, refresh_per_second=4, transient=True)
        return self._live

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        if kind == "step":
            self._step = facts["event"]
        if kind == "task":
            self._task = f"{facts['task']['id']} {facts['task']['title']}"
        self._tasks = facts.get("tasks", self._tasks)
        if kind == "settled":
            self._usage = facts["usage"]
        super().__call__(kind, facts)

    def _picture(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        done = sum(status in ("completed", "skipped") for status in self._tasks)
        grid = Table.grid(padding=(0, 1))
        grid.add_row(
            Text(safe(self._task, keep=""), style="bold"),
            Text(self._step, style="dim"),
            ProgressBar(total=max(len(self._tasks), 1), completed=done, width=24),
            Text(f"{done}/{len(self._tasks)}{cost(self._usage)}"),
        )
        return grid


def counted(statuses: Sequence[str]) -> str:
    done = sum(status == "completed" for status in statuses)
    return f"{done} of {len(statuses)} tasks completed"


def cost(usage: Mapping[str, Any]) -> str:
    """` 12,345 tokens, $0.12`, for agents that say so."""
    tokens = sum(int(usage.get(name) or 0) for name in ("input_tokens", "output_tokens"))
    parts = [f"{tokens:,} tokens"] if tokens else []
    if usage.get("cost_usd"):
        parts.append(f"${usage['cost_usd']:.2f}")
    return f", {', '.join(parts)}" if parts else ""
