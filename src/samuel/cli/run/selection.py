"""Which run or task an argument of `run show`, `run log` and `run report` means."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.command_context import CommandContext
from samuel.git.git import Git
from samuel.history.attempt_record import AttemptRecord
from samuel.history.history import LAST, History
from samuel.history.holds import Hold, holds_of
from samuel.history.own_branch import commit_of
from samuel.process import environment
from samuel.report.model import RunReport, build_report
from samuel.setup.run_state import run_file, state_directory, task_store
from samuel.tasks.task import Task, Tasks

MOVED = "the record of this project's runs is under its former path"


class RunsOfProject(NamedTuple):
    """The runs of a project, and its tasks."""

    root: Path
    state: Path
    history: History
    tasks: Tasks
    """Empty if there is no task file, or none that can be read."""

    @classmethod
    def here(cls, here: CommandContext) -> RunsOfProject:
        state = state_directory(here.root)
        tasks: Tasks = ()
        with suppress(SamuelError):  # the runs are worth showing also when the task file is broken or gone
            tasks = task_store(state).load()
        history = History.of(state, paths.User.from_environment().record(state))
        return cls(here.root, state, history, tasks)

    @property
    def state_name(self) -> str:
        """The state directory below the project's root."""
        return str(self.state.relative_to(self.root))

    @property
    def left_behind(self) -> str:
        """Where the reports are of runs with their record under the project's former path; "" without such."""
        if self.history.ids():
            return ""
        from samuel.report.files import DIRECTORY  # with all that writes reports

        reports = self.state / DIRECTORY
        if not reports.is_dir() or not any(reports.iterdir()):
            return ""
        return f"its reports are in `{self.state_name}/{DIRECTORY}/`"

    def find(self, name: str) -> str:
        """The id of a run by the beginning of its id, or by `last`. Raises UsageError."""
        if where := self.left_behind:
            raise UsageError(MOVED, where)
        return self.history.find(name)

    def report(self, run_id: str) -> RunReport:
        """The report of a run, with its tasks as they were at its end; that of the last one with them as now."""
        tasks: Tasks | None = self.history.tasks(run_id)
        if self.history.ids()[:1] == [run_id]:
            now = {(task.id, task.title): task for task in self.tasks}  # the list may be another one by now
            tasks = self.tasks if tasks is None else [now.get((task.id, task.title), task) for task in tasks]
        history = self.history.load(run_id)
        return build_report(
            history,
            tasks,
            project=self.root.name,
            state=self.state_name,
            is_finished=self._is_finished(history.run.branch),
            holds=self.holds(run_id),
        )

    def _is_finished(self, branch: str) -> bool:
        """Whether a branch of a run is gone: it was merged or discarded."""
        git = Git(self.root, environment.clean())
        return bool(branch) and git.is_repository and not commit_of(git, branch)

    def holds(self, run_id: str) -> tuple[Hold, ...]:
        """What this run waits for now; nothing unless it is the last one and has not ended."""
        run = None
        with suppress(SamuelError):  # its state cannot be read; its history is worth showing
            run = run_file(self.state).load()
        return holds_of(run, SystemClock.now()) if run and run.run_id == run_id else ()

    def select(self, name: str) -> Selection:
        """The task or the run with this name; the last run if it is empty. Raises UsageError."""
        if not name:
            return Selection(run_id=self.find(LAST))
        row = next((task for task in self.tasks if task.id == name), None)
        if row is not None:
            return Selection(task_id=name, row=row)
        if name == LAST or any(id.startswith((name, f"run-{name}")) for id in self.history.ids()):
            return Selection(run_id=self.find(name))
        ids = {task.id for task in self.tasks} | {attempt.task_id for attempt in self.attempts()}
        if name in ids:  # of a task list before this one
            return Selection(task_id=name)
        hint = did_you_mean(
            name,
            [*sorted(ids - {""}), *self.history.ids()],
            "`samuel run history` and `samuel run tasks` list them",
        )
        raise UsageError(f"there is no run and no task `{name}`", hint)

    def attempts(self, task_id: str | None = None) -> list[AttemptRecord]:
        """The attempts of all runs, or those on one task; the oldest first."""
        histories = [*self.history.all()][::-1]
        attempts = [attempt for history in histories for attempt in history.attempts]
        return [attempt for attempt in attempts if task_id in (None, attempt.task_id)]


class Selection(NamedTuple):
    """A run or a task."""

    run_id: str = ""
    task_id: str = ""
    row: Task | None = None
    """Of a task that is in the task file."""
