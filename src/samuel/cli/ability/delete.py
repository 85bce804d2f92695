from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.leftovers import settle_killed


@command()
@click.argument("key")
def delete(here: CommandContext, key: str) -> int:
    """Delete a call and its record.

    \b
        samuel ability delete call-20250115T102345-0123456789abcdef
    """
    calls = CallStore(here.root)
    settle_killed(calls)
    calls.delete(key)
    return here.out.answer({"deleted": key}, f"deleted `{key}`")
