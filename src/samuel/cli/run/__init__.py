"""`samuel run`: the table of its commands, and where they find the state of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samuel import config, paths
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.config.model import Config
from samuel.errors import UsageError
from samuel.files.inside import refuse_links
from samuel.loop.run import RunFile
from samuel.loop.state_migration import move_state
from samuel.nearest import did_you_mean
from samuel.process.live import all_enclosing
from samuel.tasks.prd_file import NAME as PRD
from samuel.tasks.rights import Asker, asker
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks

if TYPE_CHECKING:
    from samuel.cli.command_context import CommandContext

COMMANDS = {
    "init": CommandEntry("samuel.cli.run.init:init", "Make the task list from a PRD."),
    "start": CommandEntry("samuel.cli.run.start:start", "Work the tasks to done."),
    "pilot": CommandEntry("samuel.cli.run.pilot:pilot", "Let the agent look for tasks as well."),
    "status": CommandEntry("samuel.cli.run.status:status", "How the tasks stand, and how the last run ended."),
    "tasks": CommandEntry("samuel.cli.run.tasks:tasks", "Show the tasks."),
    "done": CommandEntry("samuel.cli.run.done:done", "Say that a task is done."),
    "skip": CommandEntry("samuel.cli.run.skip:skip", "Leave a task out, and say why."),
    "block": CommandEntry("samuel.cli.run.block:block", "Set a task aside that cannot be done now, and say why."),
    "reset": CommandEntry(
        "samuel.cli.run.reset:reset", "Make a task pending again, as if it had never been tried."
    ),
    "enqueue": CommandEntry("samuel.cli.run.enqueue:enqueue", "Add a task."),
    "convert": CommandEntry("samuel.cli.run.convert:convert", "Show the tasks that a PRD in Markdown would give."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def run() -> None:
    """Run an agent in a loop on the tasks of a PRD.

    \b
        samuel run tasks --status pending
    """


def state_directory(here: CommandContext, methodology: str = "") -> Path:
    """Where the state of a run is kept. A link there could make us write anywhere, so none is followed."""
    project = paths.Project(here.root)
    refuse_links(project.root, str(project.run.relative_to(project.root)))
    settings = config.load(project.config)
    if os.environ.get("SAMUEL_RUN_ID"):
        # The run's own methodology counts, and its place, whatever samuel.toml says by now.
        name = os.environ.get("SAMUEL_METHODOLOGY") or settings.default_methodology
        moved = settings.has_several_methodologies and not (project.run / PRD).exists()
        return _safe(project, project.state(name, several=moved))
    name = known_methodology(settings, methodology)
    if settings.has_several_methodologies:
        record = paths.User.from_environment().record
        move_state(project.run, settings.default_methodology, settings.names, record)
    return _safe(project, project.state(name, several=settings.has_several_methodologies))


def task_store(state: Path) -> TaskStore:
    """The tasks of a state directory, with what a run in progress has sealed of them."""
    return TaskStore(state, paths.User.from_environment().record(state))


def run_file(state: Path) -> RunFile:
    return RunFile(state, paths.User.from_environment().record(state))


def change_tasks(here: CommandContext, change: Callable[[Asker, Tasks], tuple[Task, ...]]) -> tuple[Task, ...]:
    """Change the tasks with the rights of whoever called this command."""
    store = task_store(state_directory(here))
    who = asker(os.environ, store.seal, all_enclosing(paths.User.from_environment().live))
    return store.change(lambda tasks: change(who, tasks), trusted=who.trusted)


def known_methodology(settings: Config, name: str) -> str:
    """The methodology of this name, or the default one; a name that nobody configured is a mistake."""
    if not name or name in settings.names:
        return name or settings.default_methodology
    hint = did_you_mean(name, settings.names, f"[methodology.{name}] in samuel.toml makes it one")
    raise UsageError(f"there is no methodology `{name}`", hint)


def _safe(project: paths.Project, state: Path) -> Path:
    refuse_links(project.root, str(state.relative_to(project.root)))
    return state
