from __future__ import annotations

from typing import Any

import click

from samuel.abilities.model import Ability
from samuel.cli.ability import abilities, problems
from samuel.cli.here import Here, json_option
from samuel.cli.output import Table

COLUMNS = ("id", "level", "kind", "scope", "environments", "summary")


@click.command("list")
@json_option
@click.pass_obj
def list_(here: Here) -> int:
    """Show every ability of this project.

    \b
        samuel ability list
    """
    registry = abilities(here)
    found = [plain(one) for one in registry.abilities]
    rows = [[_cell(row[column]) for column in COLUMNS] for row in found]
    shown = Table(COLUMNS, rows) if rows else "there are no abilities here: .system/registry/*/*.yaml defines them"
    return here.out.answer(found, shown, warnings=problems(registry))


def plain(one: Ability) -> dict[str, Any]:
    return {
        "id": one.id,
        "operation_key": one.operation_key,
        "level": one.level.value,
        "type": one.type,
        "kind": one.kind,
        "summary": one.summary,
        "when_to_use": one.when_to_use,
        "scope": list(one.all_scopes),
        "environments": list(one.environments),
        "calls": list(one.calls),
        "file": one.file,
    }


def _cell(value: object) -> str:
    return (", ".join(value) if isinstance(value, list) else str(value)) or "-"
