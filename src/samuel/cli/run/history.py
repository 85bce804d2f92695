from __future__ import annotations

from typing import Any

import click

from samuel.base.wording import moment, span
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.cli.run.selection import MOVED, RunsOfProject
from samuel.events.endings import IterationOutcome
from samuel.history.cost_summary import CostSummary
from samuel.history.history import RunHistory, shortest_prefix
from samuel.report.model import ran_an_agent

COLUMNS = ("run", "began", "took", "ended", "tasks", "cost")


@command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show the newest N runs.")
def history(here: CommandContext, limit: int) -> int:
    """List the runs, the newest first.

    `tasks` are those that the run completed, of those that it worked on.

    \b
        samuel run history --limit 5
    """
    runs = RunsOfProject.here(here)
    ids = runs.history.ids()
    histories = [*runs.history.all(limit)]
    rows = [_row(run_history, ids) for run_history in histories]
    data = [run_data(run_history) for run_history in histories]
    without_rows = f"{MOVED}; {where}" if (where := runs.left_behind) else "no runs yet"
    return here.out.answer(data, OutputTable(COLUMNS, rows) if rows else without_rows)


def run_data(history: RunHistory) -> dict[str, Any]:
    """A run as the data of `--json`."""
    run = history.run
    return {
        **fields_of(run, "run_id", "methodology", "agents", "started_at", "ended_at"),
        "seconds": seconds_of(history),
        "exit_reason": run.exit_reason or "",
        "exit_message": run.exit_message,
        "iterations": len(history.attempts),
        "tasks": sorted({attempt.task_id for attempt in history.attempts} - {""}),
        "completed": sorted(_completed(history)),
        "reviewed": [
            {"id": attempt.task_id, "reviewed": attempt.review.words}
            for attempt in history.attempts
            if attempt.review
        ],
        "usage": run.usage,
    }


def seconds_of(history: RunHistory) -> float:
    """How long a run took, or has taken until its last attempt ended."""
    ends = [history.run.started_at, *(attempt.ended_at for attempt in history.attempts)]
    return (history.run.ended_at or max(ends)) - history.run.started_at


def cost_of(history: RunHistory) -> CostSummary:
    return CostSummary.of(attempt.usage for attempt in history.attempts if ran_an_agent(attempt))


def _completed(history: RunHistory) -> set[str]:
    completed = IterationOutcome.COMPLETED
    return {attempt.task_id for attempt in history.attempts if attempt.outcome is completed} - {""}


def _row(history: RunHistory, ids: list[str]) -> tuple[str, ...]:
    run = history.run
    tasks = {attempt.task_id for attempt in history.attempts} - {""}
    return (
        shortest_prefix(run.run_id, ids),
        moment(run.started_at),
        span(seconds_of(history)),
        run.exit_reason or "not ended",
        f"{len(_completed(history))}/{len(tasks)}",
        cost_of(history).short,
    )
