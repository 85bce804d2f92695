from __future__ import annotations

from typing import Any

import click

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.routing.abilities.execution.call import shortened
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.nesting import settle_killed
from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.registry import Registry, load

COLUMNS = ("id", "level", "kind", "scope", "environments", "summary")
CALL_COLUMNS = ("call_key", "ability_id", "status", "created", "error")
NO_ABILITIES = "there are no abilities here: .system/registry/*/*.yaml defines them"
NO_CALLS = "no ability calls yet; `samuel ability create` makes one"


@command("list")
@click.option("--calls", is_flag=True, help="List the calls made so far instead of the abilities, oldest first.")
def list_(here: CommandContext, calls: bool) -> int:
    """List the abilities of this project, or the calls made so far.

    \b
        samuel ability list
        samuel ability list --calls
    """
    if calls:
        return _list_calls(here)
    registry = abilities(here)
    ability_rows = [plain(ability) for ability in registry.abilities]
    table = OutputTable.of(COLUMNS, ability_rows) if ability_rows else NO_ABILITIES
    return here.out.answer(ability_rows, table, warnings=problems(registry))


def _list_calls(here: CommandContext) -> int:
    calls = CallStore(here.root)
    keys = calls.all_keys()
    settle_killed(calls, keys)
    call_rows = sorted((_call_row(calls, key) for key in keys), key=lambda row: row["created"])
    rows = [{column: shortened(text, 100) for column, text in row.items()} for row in call_rows]
    return here.out.answer(call_rows, OutputTable.of(CALL_COLUMNS, rows) if rows else NO_CALLS)


def _call_row(calls: CallStore, key: str) -> dict[str, str]:
    try:
        call = calls.load(key)
    except (SamuelError, OSError) as error:
        return dict.fromkeys(CALL_COLUMNS, "") | {"call_key": key, "status": "unreadable", "error": str(error)}
    return {"call_key": key, **fields_of(call, "ability_id", "status", "created", "error")}


def plain(ability: Ability) -> dict[str, Any]:
    return {
        **fields_of(ability, "id", "operation_key", "level", "type", "kind", "summary", "when_to_use"),
        "scope": ability.all_scopes,
        **fields_of(ability, "environments", "calls", "file"),
    }


def abilities(here: CommandContext) -> Registry:
    return load(here.root, paths.User.from_environment().cache)


def problems(registry: Registry) -> list[str]:
    """A warning if files of the registry could not be used."""
    count = len(registry.problems)
    warning = f"{plural(count, 'problem')} in the registry; `samuel ability lint` shows them"
    return [warning] if count else []
