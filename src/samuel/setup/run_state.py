"""Where the tasks and runs of a project are, for a command or a program that has not opened the project."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.config.model import Config
from samuel.files.inside import refuse_links
from samuel.history.run_file import RunFile
from samuel.history.state_migration import move_state
from samuel.history.steering import SteeringFile
from samuel.process.live import all_enclosing
from samuel.tasks.origin import OriginFile, origin_directory
from samuel.tasks.prd_file import NAME as PRD
from samuel.tasks.rights import Asker, asker
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, Tasks


def state_directory(root: Path, methodology: str = "") -> Path:
    """The directory with the state of a run. A link there could make us write anywhere, so none is followed."""
    project = paths.Project(root)
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


def steering_file(state: Path) -> SteeringFile:
    """What people asked of the runs of a state directory."""
    return SteeringFile(paths.User.from_environment().record(state))


def asker_of(store: TaskStore) -> Asker:
    """Who calls: a person, or the agent or a check of a run."""
    return asker(os.environ, store.seal, all_enclosing(paths.User.from_environment().live))


def change_tasks(
    root: Path, change: Callable[[Asker, Tasks], tuple[Task, ...]], methodology: str = ""
) -> tuple[Task, ...]:
    """Change the tasks with the rights of the caller: a user, or the agent or a check of a run."""
    store = task_store(state_directory(root, methodology))
    who = asker_of(store)
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
