"""`samuel run`: the table of its commands, and where they find the state of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from samuel import paths
from samuel.cli.lazy import Entry, LazyGroup
from samuel.files.inside import refuse_links

if TYPE_CHECKING:
    from samuel.cli.here import Here

COMMANDS = {
    "tasks": Entry("samuel.cli.run.tasks:tasks", "Show the tasks."),
    "done": Entry("samuel.cli.run.done:done", "Say that a task is done."),
    "skip": Entry("samuel.cli.run.skip:skip", "Leave a task out, and say why."),
    "block": Entry("samuel.cli.run.block:block", "Set a task aside that cannot be done now, and say why."),
    "reset": Entry("samuel.cli.run.reset:reset", "Make a task pending again, as if it had never been tried."),
    "enqueue": Entry("samuel.cli.run.enqueue:enqueue", "Add a task."),
    "convert": Entry("samuel.cli.run.convert:convert", "Show the tasks that a PRD in Markdown would give."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def run() -> None:
    """Work a PRD to done, one task at a time.

    \b
        samuel run tasks --status pending
    """


def state_directory(here: Here) -> Path:
    """Where the state of a run is kept. A link there could make us write anywhere, so none is followed."""
    project = paths.Project(here.root)
    refuse_links(project.root, str(project.run.relative_to(project.root)))
    return project.run
