from __future__ import annotations

from typing import Any

import click

from samuel.base.printable import safe
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.config.duration import format_duration
from samuel.events import event_type
from samuel.events.compose import Arrange
from samuel.hooks.handler import Handler, HandlerMode
from samuel.hooks.match import words
from samuel.hooks.order import Chain, ChainStep
from samuel.scaffold.move import instead, move

COLUMNS = ("", "handler", "order", "origin", "runtime", "strict", "timeout", "status", "why")


@command()
@click.argument("event")
@env_option
def explain(here: CommandContext, event: str, environment: str) -> int:
    """Show which handlers run on an event, in what order, and why.

    \b
        samuel hooks explain quality.check
    """
    kind = event_type(event)
    only_one_runs = kind.composition.arrange is Arrange.LAST_ONLY
    with here.open(environment=environment) as app:
        chain = app.chains[kind.name]
        idle = [handler for handler in app.handlers if _is_idle(handler, chain)]
        moves = [(step, move(step, chain, app.config, app.methodology)) for step in chain.steps]
        others = [left.handler for left in chain.left_out] if only_one_runs else []
        alternatives = [(handler, instead(handler, kind.name, app.config, app.methodology)) for handler in others]
    if len(moves) < 2:  # there is nothing to move past
        moves = []
    data = chain_data(chain)
    for row, (_, moved) in zip(data["chain"], moves, strict=False):
        row["move"] = moved._asdict()
    for row, (_, toml) in zip(data["left_out"], alternatives, strict=False):
        row["instead"] = toml
    data["idle"] = [
        {"handler": handler.name, "status": handler.status.value, "reason": handler.reason} for handler in idle
    ]

    blocks: list[str | OutputTable] = [f"{kind.name} ({kind.composition.name})", chain_table(chain)]
    blocks += [left_out_lines(chain)] if chain.left_out else []
    blocks += [f"{handler.status.value}: `{handler.name}`: {handler.reason}" for handler in idle]
    blocks += ["\nTo move one, in samuel.toml:"] if moves else []
    blocks += [_lines(step.handler, moved.to, moved.toml) for step, moved in moves]
    blocks += ["\nTo let another one run, in samuel.toml:"] if alternatives else []
    blocks += [_lines(handler, "instead", toml) for handler, toml in alternatives]
    return here.out.answer(data, *blocks, warnings=[*chain.warnings, *app.warnings])


def _lines(handler: Handler, what: str, toml: str) -> str:
    lines = toml.replace("\n", "\n  ")
    return f"\n  # `{safe(handler.name, keep='')}` {what}\n  {lines}"


def _is_idle(handler: Handler, chain: Chain) -> bool:
    """Found, not in the chain, and perhaps meant for it: a file that could not be asked may be for any event."""
    placed = {(step.handler.path, step.handler.name) for step in chain.steps}
    placed |= {(left.handler.path, left.handler.name) for left in chain.left_out}
    return handler.event in ("", chain.event.name) and (handler.path, handler.name) not in placed


def chain_data(chain: Chain) -> dict[str, Any]:
    return {
        "event": chain.event.name,
        "composes": chain.event.composition.name,
        "chain": [_plain_step(position, step) for position, step in enumerate(chain.steps, start=1)],
        "left_out": [{"handler": left.handler.name, "why": left.why} for left in chain.left_out],
        "warnings": list(chain.warnings),
    }


def chain_table(chain: Chain) -> OutputTable | str:
    if not chain.steps:
        return "  no handler runs"
    return OutputTable(COLUMNS, [_row(position, step) for position, step in enumerate(chain.steps, start=1)])


def left_out_lines(chain: Chain) -> str:
    return "\n".join(f"left out: `{left.handler.name}`: {left.why}" for left in chain.left_out)


def _plain_step(position: int, step: ChainStep) -> dict[str, Any]:
    handler = step.handler
    return {
        "position": position,
        "handler": handler.name,
        "order": step.order,
        "origin": handler.origin.label,
        "runtime": handler.runtime,
        "path": handler.path,
        "strict": step.strict,
        "timeout": format_duration(step.timeout),
        "status": handler.status.value,
        "reason": handler.reason,
        "why": step.why,
        "match": handler.match,
        "mode": step.mode.value,
        "background": step.background,
    }


def _row(position: int, step: ChainStep) -> tuple[str, ...]:
    handler = step.handler
    remarks = (
        step.why,
        "observed: what it decides is only recorded" if step.mode is HandlerMode.OBSERVE else "",
        "in the background: its answer is not awaited" if step.background else "",
        f"only if {words(handler.match)}" if handler.match else "",
        handler.reason,
    )
    return (
        str(position),
        handler.name,
        "-" if step.order is None else str(step.order),
        handler.origin.label,
        handler.runtime,
        "yes" if step.strict and step.mode is HandlerMode.ENFORCE else "no",
        format_duration(step.timeout),
        handler.status.value,
        "; ".join(filter(None, remarks)),
    )
