"""`samuel run convert`, and what it shares with `init` and `enqueue`, which read tasks, too."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from samuel.base.errors import UsageError
from samuel.base.printable import safe
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command, options
from samuel.cli.run.tasks import table
from samuel.setup.task_list import format_handlers
from samuel.tasks.formats.base import TaskFormat
from samuel.tasks.formats.markdown_tasks import counted
from samuel.tasks.formats.source import LARGEST
from samuel.tasks.formats.table import FORMATS, FittingFormat
from samuel.tasks.importing import STDIN, TaskImport, import_tasks, open_source

MAX_WARNINGS = 20
_FORMAT = f"The format: {', '.join(format.name for format in FORMATS)}, or one that a hook reads."
source_options = options(
    click.option("--format", "format_name", default="", metavar="NAME", help=_FORMAT),
    click.option("--tag", default="", help="The tag to read, of a file that has several (task-master)."),
)


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


def read_tasks(here: CommandContext, name: str, format_name: str, tag: str) -> TaskImport:
    """The tasks of a file, a directory or standard input; a person is asked where two formats fit."""
    source, notes = open_source(name, here.directory, _stdin, format_name)
    choose = _choose if here.out.asks and name != STDIN else None
    return import_tasks(source, format_name, tag, choose, notes, format_handlers(here.open))


def described(task_import: TaskImport) -> list[str]:
    """What was read, as what, and from how much: so that a wrong guess can be seen."""
    imported = task_import.imported
    done = sum(task.status == "completed" for task in imported.tasks)
    counts = ", ".join(counted(name, count) for name, count in imported.counts.items()) or "nothing else"
    result = plural(len(imported.tasks), "task") + (f", {done} of them done" if done else "")
    lines = [
        f"{plural(len(imported.tasks), 'task')} from {task_import.source.name}",
        f"  format: {task_import.format.name}, because {task_import.why}",
        f"  counted: {counts}; read: {result}",
    ]
    if imported.checks:
        lines.append(f"  checks for all tasks: {', '.join(f'`{command}`' for command in imported.checks)}")
    if imported.documents:
        lines.append(f"  for the prompt: {', '.join(document.name for document in imported.documents)}")
    return lines


def warnings(task_import: TaskImport) -> list[str]:
    """What was left out; of many, the first."""
    every = task_import.warnings()
    more = len(every) - MAX_WARNINGS
    return every if more <= 0 else [*every[:MAX_WARNINGS], f"and {more} more; `--json` has all of them"]


def _stdin() -> bytes:
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", "pipe the tasks into it: `gh issue list --json ... |`")
    return sys.stdin.buffer.read(LARGEST + 1)


def _choose(fitting: Sequence[FittingFormat]) -> TaskFormat | None:
    for number, (format, why) in enumerate(fitting, start=1):
        click.echo(safe(f"  {number}  {format.name}: {format.summary} ({why})"), err=True)
    number = click.prompt("Which format is it", type=click.IntRange(1, len(fitting)), err=True)
    return fitting[number - 1].format
