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
    """Show the tasks that `run init` would read from a PRD.

    Nothing is written.

    \b
        samuel run convert docs/prd.md
    """
    converted = markdown.read(here.directory / file)
    notes = list(converted.notes)
    if converted.file.name != file.name:
        notes.insert(0, f"these are the tasks of `{converted.file.name}`, which is beside `{file.name}`")
    return here.out.answer([task.plain() for task in converted.tasks], table(converted.tasks), warnings=notes)
