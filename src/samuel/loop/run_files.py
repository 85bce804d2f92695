"""The files that a run reads and writes outside of its own state: the tasks, the project, the protected ones."""

from __future__ import annotations

from typing import NamedTuple

from samuel.loop.patient_tasks import PatientTasks
from samuel.loop.protect import Protected
from samuel.loop.stop import Stop
from samuel.loop.workplace import Workplace
from samuel.loop.worktree import ProjectFiles


class RunFiles(NamedTuple):
    tasks: PatientTasks
    project: ProjectFiles
    protected: Protected

    @classmethod
    def pinned(cls, place: Workplace, stop: Stop) -> RunFiles:
        """The files of this project, with the protected ones as they are now."""
        return cls(PatientTasks(place, stop), ProjectFiles(place.root, place.git), Protected(place.root))
