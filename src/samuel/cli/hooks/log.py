from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import click
import msgspec

from samuel import paths
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.clock import iso
from samuel.dispatch.record import slowness
from samuel.events import canonical
from samuel.hooks.handler import Outcome
from samuel.journal import CallRecord, newest_first

COLUMNS = ("time", "event", "handler", "outcome", "ms", "slow", "message")
WOULD_COLUMNS = ("time", "event", "handler", "would", "reason")


@click.command()
@click.option("--event", metavar="EVENT", help="Only calls for this event.")
@click.option(
    "--outcome", type=click.Choice([outcome.value for outcome in Outcome]), help="Only calls with this outcome."
)
@click.option("--would-deny", is_flag=True, help="Only what observed handlers would have denied, or asked about.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest N calls."
)
@json_option
@click.pass_obj
def log(here: CommandContext, event: str | None, outcome: str | None, would_deny: bool, limit: int) -> int:
    """Show past calls of hooks.

    \b
        samuel hooks log --event quality.check --outcome failed
        samuel hooks log --would-deny
    """
    event_name = canonical(event) if event else ""
    matching = (call for call in _calls(here, event_name, outcome) if not would_deny or _would_stop(call))
    calls = list(islice(matching, limit))[::-1]
    data = [_plain(call) for call in calls]
    if would_deny:
        nothing = "no observed handler would have denied anything"
        return here.out.answer(data, _would_table(calls) if calls else nothing)
    return here.out.answer(data, _table(calls) if calls else "no calls yet")


def _table(calls: Sequence[CallRecord]) -> OutputTable:
    """The calls; on a terminal with times that leave room for the rest."""
    rows = [_row(call, time_format()) for call in calls]
    dispensable = ["slow", *([] if any(row[-1] for row in rows) else ["message"])]
    return OutputTable(COLUMNS, rows, ("event", "handler", "message"), dispensable)


def _would_table(calls: Sequence[CallRecord]) -> OutputTable:
    when = time_format()
    rows = [
        (when(call.at), call.event, call.handler, call.would.verdict, call.would.reason)
        for call in calls
        if call.would
    ]
    return OutputTable(WOULD_COLUMNS, rows, ("event", "handler", "reason"))


def _would_stop(call: CallRecord) -> bool:
    return call.would is not None and call.would.stops


def _calls(here: CommandContext, event: str, outcome: str | None) -> Iterator[CallRecord]:
    project = paths.Project(here.root)
    for record in newest_first(project.root, project.journal):
        if isinstance(record, CallRecord) and event in ("", record.event) and outcome in (None, record.outcome):
            yield record


def _plain(call: CallRecord) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.asdict(call))
    return {**fields, "at": utc_time(call.at), "slow": slowness(call.event, call.handler, call.duration_ms)}


def _row(call: CallRecord, when: Callable[[float], str]) -> tuple[str, ...]:
    took = f"{call.duration_ms:.1f}"
    slow = slowness(call.event, call.handler, call.duration_ms) or "-"
    message = "; ".join(filter(None, (call.message, call.would.text if call.would else "")))
    return when(call.at), call.event, call.handler, call.outcome, took, slow, message


def time_format() -> Callable[[float], str]:
    """How a table shows a time: on a terminal shorter, so that there is room for the rest."""
    return _local_time if sys.stdout.isatty() else utc_time


def _local_time(at: float) -> str:
    try:
        return time.strftime("%m-%d %H:%M:%S", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return str(at)


def utc_time(at: float) -> str:
    """A time of the journal as ISO 8601."""
    try:
        return iso(at)
    except (OverflowError, ValueError, OSError):  # a journal that came with a clone may say anything
        return str(at)
