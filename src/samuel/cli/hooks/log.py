from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import click
import msgspec

from samuel.base import paths
from samuel.base.clock import iso
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.dispatch.record import slowness
from samuel.events import canonical
from samuel.hooks.handler import Outcome
from samuel.journal import CallRecord, EventRecord, newest_first
from samuel.journal.replay import subject

COLUMNS = ("time", "event", "handler", "outcome", "ms", "slow", "message")
WOULD_COLUMNS = ("time", "event", "subject", "handler", "would", "reason")


@command()
@click.option("--event", metavar="EVENT", help="Only calls for this event.")
@click.option(
    "--outcome", type=click.Choice([outcome.value for outcome in Outcome]), help="Only calls with this outcome."
)
@click.option("--would-deny", is_flag=True, help="Only what observed handlers would have denied, or asked about.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Show the newest N calls."
)
def log(here: CommandContext, event: str | None, outcome: str | None, would_deny: bool, limit: int) -> int:
    """Show past calls of hooks.

    \b
        samuel hooks log --event quality.check --outcome failed
        samuel hooks log --would-deny
    """
    event_name = canonical(event) if event else ""
    if would_deny:
        observed_calls = list(islice(_would_be_denials(here, event_name, outcome), limit))[::-1]
        rows = [{**_plain(call), "subject": subject_text} for call, subject_text in observed_calls]
        nothing = "no observed handler would have denied anything"
        return here.out.answer(rows, _would_table(observed_calls) if observed_calls else nothing)
    calls = list(islice(_calls(here, event_name, outcome), limit))[::-1]
    data = [_plain(call) for call in calls]
    return here.out.answer(data, _table(calls) if calls else "no calls yet")


def _table(calls: Sequence[CallRecord]) -> OutputTable:
    """The calls; on a terminal with times that leave room for the rest."""
    rows = [_row(call, time_format()) for call in calls]
    dispensable = ["slow", *([] if any(row[-1] for row in rows) else ["message"])]
    return OutputTable(COLUMNS, rows, ("event", "handler", "message"), dispensable)


def _would_table(calls: Sequence[tuple[CallRecord, str]]) -> OutputTable:
    when = time_format()
    rows = [
        (when(call.at), call.event, subject_text, call.handler, call.would.verdict, call.would.reason)
        for call, subject_text in calls
        if call.would
    ]
    return OutputTable(WOULD_COLUMNS, rows, ("subject", "handler", "reason"))


def _calls(here: CommandContext, event: str, outcome: str | None) -> Iterator[CallRecord]:
    project = paths.Project(here.root)
    for record in newest_first(project.root, project.journal):
        if isinstance(record, CallRecord) and _fits(record, event, outcome):
            yield record


def _would_be_denials(here: CommandContext, event: str, outcome: str | None) -> Iterator[tuple[CallRecord, str]]:
    """What observed handlers would have denied, or asked, each with what its event was about."""
    project = paths.Project(here.root)
    calls: dict[str, list[CallRecord]] = {}  # by event, which is read after its calls
    for record in newest_first(project.root, project.journal):
        if (
            isinstance(record, CallRecord)
            and record.would
            and record.would.stops
            and _fits(record, event, outcome)
        ):
            calls.setdefault(record.event_id, []).append(record)
        elif isinstance(record, EventRecord):
            yield from ((call, subject(record)) for call in calls.pop(record.event_id, ()))
    yield from ((call, "") for incomplete in calls.values() for call in incomplete)


def _fits(call: CallRecord, event: str, outcome: str | None) -> bool:
    return event in ("", call.event) and outcome in (None, call.outcome)


def _plain(call: CallRecord) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.asdict(call))
    return {**fields, "at": utc_time(call.at), "slow": _slow(call)}


def _row(call: CallRecord, when: Callable[[float], str]) -> tuple[str, ...]:
    took = f"{call.duration_ms:.1f}"
    slow = _slow(call) or "-"
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


def _slow(call: CallRecord) -> str:
    """How a call is flagged that was awaited and took long."""
    return "" if call.background else slowness(call.event, call.handler, call.duration_ms)
