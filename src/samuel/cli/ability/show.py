from __future__ import annotations

import json
from collections.abc import Iterator

import click
import msgspec

from samuel.abilities.execution.trust import text as agreed_text
from samuel.abilities.model import Ability
from samuel.cli.ability import abilities
from samuel.cli.ability.list import plain
from samuel.cli.command_context import CommandContext, json_option


@click.command()
@click.argument("id")
@json_option
@click.pass_obj
def show(here: CommandContext, id: str) -> int:
    """Show an ability: its purpose, its input and how it runs.

    ID is its id or its operation key.

    \b
        samuel ability show billing_regression
    """
    one = abilities(here).find(id)
    data = {
        **plain(one),
        "version": one.version,
        "keywords": list(one.keywords),
        "negative_keywords": list(one.negative_keywords),
        "notes": one.notes,
        "input_schema": one.input_schema,
        "output_schema": one.output_schema,
        "implementation": msgspec.to_builtins(one.implementation),
        "implementation_file": one.implementation_file,
    }
    return here.out.answer(data, "\n".join(_lines(one)))


def _lines(one: Ability) -> Iterator[str]:
    yield f"{one.id}: {one.summary}"
    facts = (
        ("operation", one.operation_key if one.operation_key != one.id else ""),
        ("level", f"{one.level.value}, {one.type}" if one.type else one.level.value),
        ("version", one.version),
        ("when to use", one.when_to_use),
        ("scope", ", ".join(one.all_scopes)),
        ("environments", ", ".join(one.environments)),
        ("calls", ", ".join(one.calls)),
        ("keywords", ", ".join(one.keywords)),
        ("not for", ", ".join(one.negative_keywords)),
        ("notes", one.notes),
        ("file", one.file),
    )
    yield from (f"{name}: {value}" for name, value in facts if value)
    for name, schema in (("input", one.input_schema), ("output", one.output_schema)):
        yield f"{name}: {'anything' if schema is None else json.dumps(schema, ensure_ascii=False)}"
    if one.implementation is None:
        yield "it has no implementation, so it cannot be called"
    else:
        yield agreed_text(one)[2].rstrip("\n")
