from __future__ import annotations

from pathlib import Path

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.run.tasks import table
from samuel.tasks import markdown


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.md")
@json_option
@click.pass_obj
def convert(here: CommandContext, file: Path) -> int:
    """Show the tasks that a PRD in Markdown would give.

    Nothing is written.

    \b
        samuel run convert docs/prd.md
    """
    found = markdown.read(here.directory / file)
    notes = list(found.notes)
    if found.file.name != file.name:
        notes.insert(0, f"these are the tasks of `{found.file.name}`, which stands beside `{file.name}`")
    return here.out.answer([task.plain() for task in found.tasks], table(found.tasks), warnings=notes)
