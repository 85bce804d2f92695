from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, env_option, json_option
from samuel.cli.hooks import chain as words
from samuel.cli.output import OutputTable
from samuel.events import event_type
from samuel.events.compose import Arrange
from samuel.hooks.handler import Handler
from samuel.hooks.order import Chain
from samuel.printable import safe
from samuel.scaffold.move import instead, move


@click.command()
@click.argument("event")
@env_option
@json_option
@click.pass_obj
def explain(here: CommandContext, event: str, environment: str) -> int:
    """Show which handlers run on an event, in what order, and why.

    \b
        samuel hooks explain quality.check
    """
    kind = event_type(event)
    only_one_runs = kind.composition.arrange is Arrange.LAST_ONLY
    with here.open(environment=environment) as app:
        chain = app.chains[kind.name]
        idle = [one for one in app.handlers if _is_idle(one, chain)]
        moves = [(step, move(step, chain, app.config, app.methodology)) for step in chain.steps]
        others = [one.handler for one in chain.left_out] if only_one_runs else []
        alternatives = [(one, instead(one, kind.name, app.config, app.methodology)) for one in others]
    if len(moves) < 2:  # there is nothing to move past
        moves = []
    data = words.plain(chain)
    for shown, (_, moved) in zip(data["chain"], moves, strict=False):
        shown["move"] = moved._asdict()
    for shown, (_, toml) in zip(data["left_out"], alternatives, strict=False):
        shown["instead"] = toml
    data["idle"] = [{"handler": one.name, "status": one.status.value, "reason": one.reason} for one in idle]

    blocks: list[str | OutputTable] = [f"{kind.name} ({kind.composition.name})", words.table(chain)]
    blocks += [words.left_out(chain)] if chain.left_out else []
    blocks += [f"{one.status.value}: `{one.name}`: {one.reason}" for one in idle]
    blocks += ["\nTo move one, in samuel.toml:"] if moves else []
    blocks += [_lines(step.handler, moved.to, moved.toml) for step, moved in moves]
    blocks += ["\nTo let another one run, in samuel.toml:"] if alternatives else []
    blocks += [_lines(one, "instead", toml) for one, toml in alternatives]
    return here.out.answer(data, *blocks, warnings=[*chain.warnings, *app.warnings])


def _lines(handler: Handler, what: str, toml: str) -> str:
    lines = toml.replace("\n", "\n  ")
    return f"\n  # `{safe(handler.name, keep='')}` {what}\n  {lines}"


def _is_idle(handler: Handler, chain: Chain) -> bool:
    """Found, not in the chain, and perhaps meant for it: a file that could not be asked may be for any event."""
    placed = {(step.handler.path, step.handler.name) for step in chain.steps}
    placed |= {(one.handler.path, one.handler.name) for one in chain.left_out}
    return handler.event in ("", chain.event.name) and (handler.path, handler.name) not in placed
