from __future__ import annotations

import os
from pathlib import Path

import click

from samuel import config
from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.printable import file_name
from samuel.cli.command_context import CommandContext, command
from samuel.git.git import Git
from samuel.history.done_by_person import notes_on_done
from samuel.process import environment
from samuel.setup.run_state import change_tasks, origin_file, state_directory
from samuel.tasks.task import find
from samuel.tasks.write_back import write_back


@command()
@click.argument("id")
@click.option("--commit", metavar="SHA", default="", help="The commit that did it.")
def done(here: CommandContext, id: str, commit: str) -> int:
    """Mark a task as done.

    Inside a run, and for the task that an agent is working on, this is a claim: it counts when the quality checks
    pass. Outside of a run nothing is committed and no attempt restored; where work is missing or not committed, a
    warning says so.

    \b
        samuel run done 1.2 --commit 4f0c2d1
    """
    at = iso(SystemClock().now())
    task = find(change_tasks(here.root, lambda who, tasks: who.done(tasks, id, at=at, commit=commit)), id)
    if task.status != "completed":
        return here.out.answer(task.plain(), f"task `{id}` is claimed; it counts when the quality checks pass")
    state = state_directory(here.root)
    notes = [] if commit else _notes(here, state, id)
    result = write_back(origin_file(state), here.root, (id,))
    files = ", ".join(f"`{file_name(os.path.basename(path))}`" for path in result.files)
    marked = f", and marked in {files}" if id in result.marked else ""
    return here.out.answer(task.plain(), f"task `{id}` is completed{marked}", warnings=[*notes, *result.problems])


def _notes(here: CommandContext, state: Path, id: str) -> list[str]:
    loaded = config.load(here.root / paths.CONFIG)
    settings = loaded.chosen(loaded.default_methodology)
    record = paths.User.from_environment().record(state)
    git = Git(here.root, environment.clean())
    return notes_on_done(git, state, record, id, commits=settings.commit or settings.branch)
