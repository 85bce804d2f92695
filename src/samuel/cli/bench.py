from __future__ import annotations

import sys

import click
import msgspec

from samuel.cli.command_context import CommandContext, command
from samuel.cli.json_input import json_input_option, read_json_object
from samuel.cli.output import OutputTable
from samuel.emit.serve.cost import TRUE, CostReport, EmitPlan, measure, plan

LABELS = {
    "true": "starting `true`",
    "python": "starting Python",
    "cold": "without a server",
    "warm": "samuel emit, with the server",
    "native": "samuel-emit, with the server",
}


@command()
@click.option("--event", default="PreAbilityCall", show_default=True, help="The event of agents to fire.")
@json_input_option(
    "--payload", "payload_json", default="{}", help="The event's fields, so that your hooks match it."
)
@click.option(
    *("--rounds", "rounds"),
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How often each kind of call is made.",
)
def bench(here: CommandContext, event: str, payload_json: str, rounds: int) -> int:
    """Measure what a hook call costs in this project.

    Fires an event again and again: without a server, with the server through `samuel emit`, and through the native
    `samuel-emit`, beside starting `true` and the Python interpreter. They take turns. You get the median, the
    95th percentile and the ratios, and what each handler takes of it.

    Your hooks really run, if you trust them; nothing else does. Each payload says `"dry_run": true`, so that a
    hook can tell, and the calls are in the journal like any others.

    \b
        samuel bench
        samuel bench --event PostAbilityCall --rounds 50
    """
    fields = read_json_object(payload_json, "--payload", here.directory)
    with here.open() as app:
        emits = plan(app, event, fields)
    here.out.tell(_announced(emits, rounds))
    report = measure(
        app, emits, rounds, lambda step: here.out.tell(f"{step} ...") if sys.stderr.isatty() else None
    )
    handled = _handlers(report) if report.handlers else f"no hook handles this `{report.event}`"
    blocks: list[str | OutputTable] = [_calls(report), "", handled]
    if report.denied:
        blocks.append(f"this `{report.event}` is denied; what that takes is measured all the same")
    return here.out.answer(msgspec.to_builtins(report), *blocks, *(f"note: {note}" for note in report.notes))


def _announced(emits: EmitPlan, rounds: int) -> str:
    """What is about to run."""
    kinds = [kind for kind in emits.commands if kind not in (TRUE, "python")]
    handlers = f"with {', '.join(emits.handlers)}" if emits.handlers else "for which there is no hook"
    return f"firing `{emits.event.name}` {len(kinds)} x {rounds} times as a dry run, {handlers}"


def _calls(report: CostReport) -> OutputTable:
    rows = [
        (
            LABELS[cost.kind],
            *(f"{number:.2f} ms" for number in (cost.p50_ms, cost.p95_ms)),
            *(f"{ratio:.2f}x" for ratio in (cost.times_true, cost.times_python)),
            cost.command,
        )
        for cost in report.calls
    ]
    return OutputTable(("call", "p50", "p95", "/ true", "/ python", "command"), rows, folded=("command",))


def _handlers(report: CostReport) -> OutputTable:
    rows = [
        (
            *(cost.handler, cost.runtime, cost.outcome),
            *("-" if number is None else f"{number:.2f} ms" for number in (cost.cold_p50_ms, cost.warm_p50_ms)),
        )
        for cost in report.handlers
    ]
    return OutputTable(("handler", "runtime", "outcome", "p50 without a server", "p50 with one"), rows)
