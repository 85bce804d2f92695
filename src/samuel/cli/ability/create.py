from __future__ import annotations

import click

from samuel.cli.ability.open_call import created, input_option, intent_option, opened
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import read_json, read_text
from samuel.cli.session.options import session_option


@command()
@click.argument("id")
@input_option
@intent_option
@session_option
@env_option
def create(here: CommandContext, id: str, input_json: str, intent: str, session: str, environment: str) -> int:
    """Check a call and prepare it for `run`.

    Prints a JSON object: `available` with the key for `run`, or `unavailable` with the reason.

    \b
        samuel ability create billing_regression --input input.json
    """
    value = read_json(input_json, "--input", here.directory)
    with opened(here, id, session, environment) as calling:
        call = calling.execution.create(id, value, read_text(intent))
    if here.out.json:
        return here.out.answer(created(call), ok=not call.refused, warnings=calling.app.warnings)
    here.out.warn(*calling.app.warnings)
    here.out.object(created(call))
    return 1 if call.refused else 0
