from __future__ import annotations

import click

from samuel.cli.ability.open_call import answer, created, input_option, intent_option, opened
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import read_json, read_text
from samuel.cli.session.options import session_option
from samuel.cli.signals import ended_by_signals


@command()
@click.argument("id")
@input_option
@intent_option
@session_option
@env_option
def call(here: CommandContext, id: str, input_json: str, intent: str, session: str, environment: str) -> int:
    """Check a call and run it.

    The same as `create` followed by `run`: the output comes on stdout, or the reason why there is none.

    \b
        samuel ability call billing_regression --input '{"suite": "full"}'
    """
    value = read_json(input_json, "--input", here.directory)
    with opened(here, id, session, environment) as calling, ended_by_signals():
        created_call = calling.execution.create(id, value, read_text(intent))
        ended = None if created_call.refused else calling.execution.run(created_call.key)
    if ended is not None:
        return answer(here, ended._replace(warnings=(*created_call.warnings, *ended.warnings)), calling.app)
    if here.out.json:
        return here.out.answer(created(created_call), ok=False, warnings=calling.app.warnings)
    here.out.object(created(created_call))
    assert created_call.refused is not None
    # For the record of an ability that called this one.
    here.out.tell(f"{id}: unavailable: {created_call.refused.reason}")
    return 1
