"""The files that a run reads and writes outside of its own state: the tasks, the project, the protected ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.protect import Protected
from samuel.attempt.repository_window import RepositoryWindow, WorkTree
from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.checks.memory import CheckMemory
from samuel.evidence.room import CleanRoom
from samuel.git.trees import Trees
from samuel.history.acceptance_tests import AcceptanceMemory
from samuel.history.attempts import Attempts
from samuel.history.tree_state import TreeState
from samuel.tasks.origin import origin_directory


class RunFiles(NamedTuple):
    tasks: PatientTasks
    project: ProjectFiles
    protected: Protected
    trees: Trees | None
    """None without a git repository."""
    attempts: Attempts
    checks: CheckMemory
    repository: RepositoryWindow
    acceptance: AcceptanceMemory
    room: CleanRoom | None = None
    """Where checks run; None: where the agent works."""

    @property
    def work_tree(self) -> WorkTree:
        return WorkTree(self.trees, self.attempts)

    @classmethod
    def pinned(cls, place: Workplace, stop: Stop) -> RunFiles:
        """The files of this project, with the protected ones as they are now."""
        trees = (
            Trees(place.git, private_directory(place) / "trees", place.disk) if place.git.is_repository else None
        )
        return cls(
            PatientTasks(place, stop),
            ProjectFiles(place.root, place.git),
            Protected(place.root),
            trees,
            Attempts(None, ""),
            CheckMemory(private_directory(place), "", place.disk),
            RepositoryWindow(place, private_directory(place)),
            AcceptanceMemory(private_directory(place), place.disk),
            clean_room(place, trees, private_directory(place)),
        )

    def of_run(self, place: Workplace, run_id: str, state: TreeState) -> RunFiles:
        """These files for one run."""
        return self._replace(
            attempts=Attempts(self.trees, run_id, state),
            checks=CheckMemory(private_directory(place), run_id, place.disk),
        )


def clean_room(place: Workplace, trees: Trees | None, directory: Path) -> CleanRoom | None:
    """The room for the checks of a work tree; None where there is no git, or samuel.toml wants none."""
    if trees is None or place.settings.evidence == "in place":
        return None
    return CleanRoom(trees, directory, place.check_directory)


def private_directory(place: Workplace) -> Path:
    """A directory where a sandboxed agent cannot write; the state directory where there is none."""
    return origin_directory(place.state, place.record)
