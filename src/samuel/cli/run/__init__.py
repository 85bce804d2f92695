"""`samuel run`: the table of its commands, and the state directory that they use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samuel import config
from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.lazy import CommandEntry, LazyGroup
from samuel.config.model import Config
from samuel.files.inside import refuse_links
from samuel.history.run_file import RunFile
from samuel.history.state_migration import move_state
from samuel.process.live import all_enclosing
from samuel.tasks.origin import OriginFile, origin_directory
from samuel.tasks.prd_file import NAME as PRD
from samuel.tasks.rights import Asker, asker
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks

if TYPE_CHECKING:
    from samuel.cli.command_context import CommandContext

COMMANDS = {
    "init": CommandEntry("samuel.cli.run.init:init", "Create the task list from what you have written down."),
    "sync": CommandEntry("samuel.cli.run.sync:sync", "Merge later edits of the file that the tasks came from."),
    "start": CommandEntry("samuel.cli.run.start:start", "Work on the tasks until they are done."),
    "pilot": CommandEntry("samuel.cli.run.pilot:pilot", "Work on the tasks, and let the agent look for more."),
    "status": CommandEntry(
        "samuel.cli.run.status:status", "Count the tasks by status; show the last run, and what waits for you."
    ),
    "history": CommandEntry("samuel.cli.run.history:history", "List the runs, the newest first."),
    "show": CommandEntry(
        "samuel.cli.run.show:show", "Show a run or a task: its attempts, why they failed, what they cost."
    ),
    "log": CommandEntry("samuel.cli.run.log:log", "Print what an agent wrote."),
    "report": CommandEntry(
        "samuel.cli.run.report:report",
        "Report what a run did: what is verified, what waits for you, and why attempts failed.",
    ),
    "lanes": CommandEntry(
        "samuel.cli.run.lanes:lanes", "List the work trees of `run start --parallel`, or remove them."
    ),
    "land": CommandEntry(
        "samuel.cli.run.land:land", "Let the work on a task land that a handler of `before:land` held back."
    ),
    "finish": CommandEntry(
        "samuel.cli.run.finish:finish", "Merge, propose or discard the branch of the last run."
    ),
    "tasks": CommandEntry("samuel.cli.run.tasks:tasks", "List the tasks."),
    "done": CommandEntry("samuel.cli.run.done:done", "Mark a task as done."),
    "skip": CommandEntry("samuel.cli.run.skip:skip", "Skip a task, with a reason."),
    "block": CommandEntry("samuel.cli.run.block:block", "Block a task that cannot be done now, with a reason."),
    "reset": CommandEntry("samuel.cli.run.reset:reset", "Make tasks pending again and forget their attempts."),
    "restore": CommandEntry(
        "samuel.cli.run.restore:restore", "Put the changes of a failed attempt back into the work tree."
    ),
    "ask": CommandEntry("samuel.cli.run.ask:ask", "Ask a person about the current task; for the agent of a run."),
    "questions": CommandEntry(
        "samuel.cli.run.questions:questions", "List the questions of agents that wait for an answer."
    ),
    "answer": CommandEntry("samuel.cli.run.answer:answer", "Answer the question of an agent."),
    "enqueue": CommandEntry("samuel.cli.run.enqueue:enqueue", "Add a task, or all tasks of a file."),
    "convert": CommandEntry(
        "samuel.cli.run.convert:convert",
        "Show the tasks that `run init` would read from a file, a directory or standard input.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def run() -> None:
    """Run an agent in a loop on the tasks of a PRD.

    \b
        samuel run tasks --status pending
    """


def state_directory(here: CommandContext, methodology: str = "") -> Path:
    """The directory with the state of a run. A link there could make us write anywhere, so none is followed."""
    project = paths.Project(here.root)
    refuse_links(project.root, str(project.run.relative_to(project.root)))
    settings = config.load(project.config)
    if os.environ.get("SAMUEL_RUN_ID"):
        # The methodology and the directory of the enclosing run count, even if samuel.toml has changed since.
        name = os.environ.get("SAMUEL_METHODOLOGY") or settings.default_methodology
        moved = settings.has_several_methodologies and not (project.run / PRD).exists()
        return _without_links(project, project.state(name, several=moved))
    name = configured_methodology(settings, methodology)
    if settings.has_several_methodologies:
        record = paths.User.from_environment().record
        move_state(project.run, settings.default_methodology, settings.names, record)
    return _without_links(project, project.state(name, several=settings.has_several_methodologies))


def task_store(state: Path) -> TaskStore:
    """The tasks of a state directory, with the seal of a run in progress."""
    return TaskStore(state, paths.User.from_environment().record(state))


def origin_file(state: Path) -> OriginFile:
    """Where the tasks of a state directory came from."""
    return OriginFile(origin_directory(state, paths.User.from_environment().record(state)))


def run_file(state: Path) -> RunFile:
    return RunFile(state, paths.User.from_environment().record(state))


def change_tasks(here: CommandContext, change: Callable[[Asker, Tasks], tuple[Task, ...]]) -> tuple[Task, ...]:
    """Change the tasks with the rights of the caller: a user, or the agent or a check of a run."""
    store = task_store(state_directory(here))
    who = asker(os.environ, store.seal, all_enclosing(paths.User.from_environment().live))
    return store.change(lambda tasks: change(who, tasks), trusted=who.trusted)


def configured_methodology(settings: Config, name: str) -> str:
    """The methodology of this name, or the default one. Raises UsageError for a name that is not configured."""
    if not name or name in settings.names:
        return name or settings.default_methodology
    hint = did_you_mean(name, settings.names, f"add [methodology.{name}] to samuel.toml")
    raise UsageError(f"there is no methodology `{name}`", hint)


def _without_links(project: paths.Project, state: Path) -> Path:
    refuse_links(project.root, str(state.relative_to(project.root)))
    return state
