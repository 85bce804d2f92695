from __future__ import annotations

import click

from samuel.cli import json_input as given
from samuel.cli.ability.open_call import answer, created, input_option, intent_option, opened
from samuel.cli.command_context import CommandContext, env_option, json_option
from samuel.cli.session.options import session_option
from samuel.cli.signals import ended_by_signals


@click.command()
@click.argument("id")
@input_option
@intent_option
@session_option
@env_option
@json_option
@click.pass_obj
def call(here: CommandContext, id: str, given_input: str, intent: str, session: str, environment: str) -> int:
    """Check a call, and run it at once.

    The same as `create` and `run`: its output comes on stdout, or why there is none.

    \b
        samuel ability call billing_regression --input '{"suite": "full"}'
    """
    value = given.json_object(given_input, "--input")
    with opened(here, id, session, environment) as calling, ended_by_signals():
        made = calling.execution.create(id, value, given.text(intent))
        ended = None if made.refused else calling.execution.run(made.key)
    if ended is not None:
        return answer(here, ended._replace(warnings=(*made.warnings, *ended.warnings)), calling.app)
    if here.out.json:
        return here.out.answer(created(made), ok=False, warnings=calling.app.warnings)
    here.out.object(created(made))
    assert made.refused is not None
    here.out.tell(f"{id}: unavailable: {made.refused.reason}")  # for the record of an ability that called it
    return 1
