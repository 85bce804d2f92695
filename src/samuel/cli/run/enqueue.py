from __future__ import annotations

from typing import Any

import click

from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.convert import described, read_tasks, source_options, warnings
from samuel.cli.run.tasks import table
from samuel.process.inside_a_run import inside_a_run
from samuel.setup.run_state import change_tasks, origin_file, state_directory
from samuel.tasks.changes import add_all
from samuel.tasks.origin import origin_of, without_place
from samuel.tasks.task import PRIORITIES


@command()
@click.argument("title", default="")
@click.option("--from", "source", metavar="FILE|DIR|-", default="", help="Add the tasks of a file instead.")
@source_options
@click.option("--write-back/--no-write-back", default=True, help="Mark completed tasks in that file.")
@click.option("--description", metavar="TEXT", default="", help="What is to be done, at length.")
@click.option("--priority", type=click.Choice(PRIORITIES), default="medium", show_default=True)
@click.option("--complexity", metavar="WORD", default="medium", show_default=True)
@click.option("--depends-on", metavar="ID", multiple=True, help="A task that has to be done first; repeatable.")
@click.option("--yes", is_flag=True, help="Do not ask before the tasks of a file are added.")
def enqueue(
    here: CommandContext,
    /,
    title: str,
    source: str,
    format_name: str,
    tag: str,
    write_back: bool,
    yes: bool,
    **fields: Any,
) -> int:
    """Add a task, or all tasks of a file.

    \b
        samuel run enqueue "Write the changelog" --priority low --depends-on 1.2
        samuel run enqueue --from openspec/changes/add-prices
    """
    if bool(title) == bool(source):
        raise UsageError(
            "name either a title or `--from FILE`", 'for example `samuel run enqueue "Write the docs"`'
        )
    if source:
        return _add_source(here, source, format_name, tag, write_back=write_back, yes=yes)
    *_, task = change_tasks(here.root, lambda who, tasks: who.enqueue(tasks, title, **fields))
    return here.out.answer(task.plain(), f"task `{task.id}` is pending: {task.title}")


def _add_source(
    here: CommandContext, source: str, format_name: str, tag: str, *, write_back: bool, yes: bool
) -> int:
    if run := inside_a_run():
        raise SamuelError(f"cannot add the tasks of a file inside the run `{run}`", "use another terminal")
    task_import = read_tasks(here, source, format_name, tag)
    tasks = task_import.imported.tasks
    if here.confirm and not yes:
        here.out.show(table(tasks))
        here.out.tell(*described(task_import), *warnings(task_import))
        if not here.confirm("Add these tasks?"):
            raise SamuelError("nothing was added")
    change_tasks(here.root, lambda _, rows: add_all(rows, tasks))
    origin_file(state_directory(here.root)).add(
        origin_of(task_import, paths.Project(here.root).root, write_back=write_back)
    )
    notes = warnings(task_import)
    if note := without_place(task_import, write_back=write_back):
        notes.append(note)
    return here.out.answer(task_import.plain(), "\n".join(described(task_import)), warnings=notes)
