from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.cli.skill import skills
from samuel.hooks.handler import HandlerStatus
from samuel.skills.skill import Skill

COLUMNS = ("name", "origin", "status", "description", "reason")


@click.command("list")
@json_option
@click.pass_obj
def list_(here: CommandContext) -> int:
    """List the skills and where they come from.

    \b
        samuel skill list
    """
    with here.open() as app:
        found = skills(app)
    data = [plain(one) for one in found]
    rows = [[str(row[column] or "-") for column in COLUMNS] for row in data]
    notes = [
        f"`{one.path}`: {note}" for one in found if one.status is HandlerStatus.ACTIVE for note in one.warnings
    ]
    return here.out.answer(data, OutputTable(COLUMNS, rows), warnings=[*notes, *app.warnings])


def plain(one: Skill) -> dict[str, object]:
    return {
        "name": one.name,
        "description": one.description,
        "license": one.license,
        "compatibility": one.compatibility,
        "metadata": one.metadata,
        "allowed_tools": None if one.allowed_tools is None else list(one.allowed_tools),
        "origin": one.origin.label,
        "path": str(one.path),
        "status": one.status.value,
        "reason": one.reason,
    }
