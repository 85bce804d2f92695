"""The tasks that the issues of a forge are, with the settings and the record of a project."""

from __future__ import annotations

from pathlib import Path

from samuel import config
from samuel.base import paths
from samuel.forge.forge import IssueQuery
from samuel.forge.issue_tasks import import_again, import_issues
from samuel.setup.run_state import origin_file, state_directory
from samuel.setup.task_list import TaskListRequest
from samuel.tasks.importing import TaskImport
from samuel.tasks.origin import Origins, TaskOrigin


def issue_tasks(root: Path, forge: str, query: IssueQuery, request: TaskListRequest) -> TaskImport:
    """The tasks of the issues that are meant. Raises SamuelError where the user cannot work with them."""
    settings = config.load(root / paths.CONFIG)
    is_configured = not request.methodology or request.methodology in settings.names
    origins = origin_file(state_directory(root, request.methodology)).load() if is_configured else Origins()
    return import_issues(root, forge, query, settings.forge, origins)


def issue_tasks_again(root: Path, origin: TaskOrigin) -> TaskImport:
    """The tasks of the issues of an origin as they are now. Raises SamuelError, or ForgeUnavailable."""
    return import_again(root, origin, config.load(root / paths.CONFIG).forge)
