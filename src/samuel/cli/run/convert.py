from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.source_options import described, read_tasks, source_options, warnings
from samuel.cli.run.tasks import table


@command()
@click.argument("source", metavar="FILE|DIR|-")
@source_options
def convert(here: CommandContext, source: str, format_name: str, tag: str) -> int:
    """Show the tasks that `run init` would read from a file, a directory or standard input.

    Nothing is written.

    \b
        samuel run convert docs/prd.md
        gh issue list --json number,title,body,labels | samuel run convert -
    """
    task_import = read_tasks(here, source, format_name, tag)
    blocks = (table(task_import.imported.tasks), "\n".join(["", *described(task_import)]))
    notes = task_import.warnings() if here.out.json else warnings(task_import)
    return here.out.answer(task_import.plain(), *blocks, warnings=notes)
