from __future__ import annotations

import json
from collections.abc import Iterator

import click

from samuel.cli.ability.list import abilities, plain
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import fields_of
from samuel.routing.abilities.execution.trust import text as agreed_text
from samuel.routing.abilities.model import Ability


@command()
@click.argument("id")
def show(here: CommandContext, id: str) -> int:
    """Show an ability: its purpose, its input and how it runs.

    ID is its id or its operation key.

    \b
        samuel ability show billing_regression
    """
    ability = abilities(here).find(id)
    data = {
        **plain(ability),
        **fields_of(ability, "version", "keywords", "negative_keywords", "notes"),
        **fields_of(ability, "input_schema", "output_schema", "implementation", "implementation_file"),
    }
    return here.out.answer(data, "\n".join(_lines(ability)))


def _lines(ability: Ability) -> Iterator[str]:
    yield f"{ability.id}: {ability.summary}"
    facts = (
        ("operation", ability.operation_key if ability.operation_key != ability.id else ""),
        ("level", f"{ability.level.value}, {ability.type}" if ability.type else ability.level.value),
        ("version", ability.version),
        ("when to use", ability.when_to_use),
        ("scope", ", ".join(ability.all_scopes)),
        ("environments", ", ".join(ability.environments)),
        ("calls", ", ".join(ability.calls)),
        ("keywords", ", ".join(ability.keywords)),
        ("not for", ", ".join(ability.negative_keywords)),
        ("notes", ability.notes),
        ("file", ability.file),
    )
    yield from (f"{name}: {value}" for name, value in facts if value)
    for name, schema in (("input", ability.input_schema), ("output", ability.output_schema)):
        yield f"{name}: {'anything' if schema is None else json.dumps(schema, ensure_ascii=False)}"
    if ability.implementation is None:
        yield "it has no implementation, so it cannot be called"
    else:
        yield agreed_text(ability)[2].rstrip("\n")
