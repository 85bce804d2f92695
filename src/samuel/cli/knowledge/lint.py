from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.knowledge import base
from samuel.knowledge.lint import lint as look


@click.command()
@json_option
@click.pass_obj
def lint(here: CommandContext) -> int:
    """Check ROUTING.md and the documents it leads to.

    \b
        samuel knowledge lint
    """
    known = base(here)
    found = look(known)
    count = len(known.indexes)
    said = "\n".join(map(str, found)) or f"{count} topic{'' if count == 1 else 's'}, and nothing is wrong"
    return here.out.answer({"problems": [one._asdict() for one in found]}, said, ok=not found)
