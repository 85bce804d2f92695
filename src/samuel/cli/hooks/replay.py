from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from samuel.app.replay import REPLAYED, ReplayedEvent
from samuel.app.replay import replay as replayed
from samuel.base.errors import UsageError
from samuel.base.printable import listed
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.hooks.log import time_format, utc_time
from samuel.cli.output import OutputTable
from samuel.cli.plugin.progress import Progress
from samuel.events import event_type
from samuel.journal.replay import EventComparison, EventVerdict, HandlerComparison, recorded_events

COLUMNS = ("time", "event", "subject", "handler", "recorded", "today", "reason")
COMPOSED = "(all)"  # the row of what came of the event
NOT_CALLED = "-"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 24 * 3600, "w": 7 * 24 * 3600}


class Age(click.ParamType[float]):
    """How far back, in seconds: `90m`, `12h`, `7d`, `2w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        match = re.fullmatch(r"([0-9]{1,6})([smhdw])", str(value))
        if match is None:
            self.fail(f"`{value}` is not an age like `12h`, `7d` or `2w`", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


@command()
@click.option("--since", type=Age(), metavar="AGE", default="7d", show_default=True, help="How far to go back.")
@click.option("--changed", is_flag=True, help="Show only verdicts that are different today.")
@click.option("--event", metavar="EVENT", help=f"Only this event: {' or '.join(REPLAYED)}.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="Replay the newest N events."
)
@env_option
def replay(
    here: CommandContext, since: float, changed: bool, event: str | None, limit: int, environment: str
) -> int:
    """Run recorded events through the hooks of today, and show whose verdict differs.

    Guards and rewriters are called with the recorded events, as a dry run; observers are not. Nothing is written
    to the journal or to a session. An event that the journal has only in part is named and left out.

    \b
        samuel hooks replay --since 7d --changed
    """
    names = _names(event)
    here.offer_trust()
    with here.open(environment=environment) as app, Progress(here.out) as bar:
        events = recorded_events(app.paths.root, app.paths.journal, names, app.clock.now() - since, limit)
        results = list(replayed(app, events, lambda done: bar.progress(f"replaying {done + 1} of {len(events)}")))
    comparisons = [result.comparison for result in results if result.comparison]
    differing = [comparison for comparison in comparisons if comparison.changed]
    skipped = [result for result in results if not result.comparison]
    rows = [row for comparison in (differing if changed else comparisons) for row in _rows(comparison, changed)]
    data = {
        "events": len(results),
        "replayed": len(comparisons),
        "changed": len(differing),
        "verdicts": [_plain(comparison) for comparison in (differing if changed else comparisons)],
        "not_replayed": [_plain_skipped(result) for result in skipped],
    }
    blocks: list[str | OutputTable] = (
        [OutputTable(COLUMNS, rows, ("subject", "handler", "reason"))] if rows else []
    )
    blocks.append(_summary(len(comparisons), len(differing), len(skipped)))
    warnings = [*app.warnings, *_skips(skipped)]
    return here.out.answer(data, *blocks, ok=not differing, warnings=warnings)


def _names(event: str | None) -> Sequence[str]:
    if event is None:
        return REPLAYED
    kind = event_type(event)
    if kind.name not in REPLAYED:
        raise UsageError(
            f"`{kind.name}` cannot be replayed: its handlers may do more than decide",
            f"name {' or '.join(f'`{name}`' for name in REPLAYED)}, or leave `--event` out",
        )
    return (kind.name,)


def _summary(replayed_count: int, differing: int, skipped: int) -> str:
    if not replayed_count and not skipped:
        return "the journal has no such event"
    left_out = f"; {skipped} could not be replayed" if skipped else ""
    events = "1 event" if replayed_count == 1 else f"{replayed_count} events"
    return f"{events} replayed, {differing} with another verdict today{left_out}"


def _skips(skipped: Sequence[ReplayedEvent]) -> Iterator[str]:
    """A warning per reason, with the first event that it is about."""
    reasons: dict[str, list[str]] = {}
    for result in skipped:
        reasons.setdefault(result.why_not, []).append(result.recorded.event.event_id)
    for why, ids in reasons.items():
        yield f"{listed([f'`{id}`' for id in ids], 1)} cannot be replayed: {why}"


def _rows(comparison: EventComparison, only_changed: bool) -> Iterator[tuple[str, ...]]:
    first = (time_format()(comparison.at), comparison.event, comparison.subject)
    composed = HandlerComparison(COMPOSED, comparison.recorded, comparison.today)
    for row in (composed, *comparison.handlers):
        if row.changed or not only_changed:
            yield (*first, row.handler, _word(row.recorded), _word(row.today), _reason(row.recorded, row.today))


def _word(verdict: EventVerdict | None) -> str:
    if verdict is None:
        return NOT_CALLED
    return f"{verdict.word} (observed)" if verdict.observed and verdict.word != "allow" else verdict.word


def _reason(then: EventVerdict | None, today: EventVerdict | None) -> str:
    if then and today and then.word == today.word == "rewrite" and not then.same(today):
        return f"another {', '.join(f'`{name}`' for name in today.rewritten)}"
    return (today.reason if today else "") or (then.reason if then else "")


def _plain(comparison: EventComparison) -> dict[str, Any]:
    return {
        "event_id": comparison.event_id,
        "event": comparison.event,
        "at": utc_time(comparison.at),
        "subject": comparison.subject,
        "changed": comparison.changed,
        "recorded": _plain_verdict(comparison.recorded),
        "today": _plain_verdict(comparison.today),
        "handlers": [
            {
                "handler": row.handler,
                "changed": row.changed,
                "recorded": _plain_verdict(row.recorded),
                "today": _plain_verdict(row.today),
            }
            for row in comparison.handlers
        ],
    }


def _plain_verdict(verdict: EventVerdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"verdict": verdict.word, "reason": verdict.reason, "observed": verdict.observed}


def _plain_skipped(result: ReplayedEvent) -> dict[str, str]:
    record = result.recorded.event
    return {"event_id": record.event_id, "event": record.event, "at": utc_time(record.at), "why": result.why_not}
