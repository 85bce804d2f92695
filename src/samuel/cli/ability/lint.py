from __future__ import annotations

import click

from samuel.abilities.lint import lint as look
from samuel.cli.ability import abilities
from samuel.cli.command_context import CommandContext, json_option


@click.command()
@json_option
@click.pass_obj
def lint(here: CommandContext) -> int:
    """Check the registry and ABILITY.md.

    \b
        samuel ability lint
    """
    registry = abilities(here)
    found = look(here.root, registry)
    count = len(registry.abilities)
    said = "\n".join(map(str, found)) or f"{count} abilit{'y' if count == 1 else 'ies'}, and nothing is wrong"
    return here.out.answer({"problems": [one._asdict() for one in found]}, said, ok=not found)
