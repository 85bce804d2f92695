from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.nesting import settle_killed


@click.command()
@click.argument("key")
@json_option
@click.pass_obj
def delete(here: CommandContext, key: str) -> int:
    """Delete a call and its record.

    \b
        samuel ability delete call-20250115T102345-0123456789abcdef
    """
    calls = CallStore(here.root)
    settle_killed(calls)
    calls.delete(key)
    return here.out.answer({"deleted": key}, f"deleted `{key}`")
