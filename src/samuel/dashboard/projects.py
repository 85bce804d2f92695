"""The projects of this user that have a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.run.project_record import ProjectRecord, recorded_projects


class RunProject(NamedTuple):
    """A project, and the methodology that its runs use."""

    id: str
    """The name of its record."""
    root: Path
    methodology: str
    """Empty for the one that commands use by default."""

    @property
    def name(self) -> str:
        return f"{self.root.name}, {self.methodology}" if self.methodology else self.root.name


def run_projects(user: paths.User) -> list[RunProject]:
    """All of them, by their names."""
    projects = [
        RunProject(id, Path(record.root), _named(record)) for id, record in recorded_projects(user.records)
    ]
    return sorted(projects, key=lambda project: (project.root.name, str(project.root), project.methodology))


def find_project(projects: Iterable[RunProject], id: str) -> RunProject | None:
    return next((project for project in projects if project.id == id), None)


def _named(record: ProjectRecord) -> str:
    """The methodology if it has to be named: it has a directory of its own as there are several."""
    return "" if Path(record.state) == paths.Project(Path(record.root)).run else record.methodology
