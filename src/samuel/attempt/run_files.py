"""The files that a run reads and writes outside of its own state: the tasks, the project, the protected ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.prepare_command import PrepareCommand
from samuel.attempt.protect import Protected
from samuel.attempt.repository_window import RepositoryWindow, WorkTree
from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.base.printable import file_name, listed
from samuel.checks.memory import CheckMemory
from samuel.confine import sandbox as sandboxes
from samuel.evidence.room import CheckVariables, CleanRoom
from samuel.git.trees import Trees
from samuel.history.acceptance_tests import AcceptanceMemory
from samuel.history.attempts import Attempts
from samuel.history.tree_state import TreeState
from samuel.tasks.origin import origin_directory

MOST_NAMED = 5  # changed files of an environment


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
            clean_room(place, trees, private_directory(place), private_directory(place), place),
        )

    def of_run(self, place: Workplace, run_id: str, state: TreeState) -> RunFiles:
        """These files for one run."""
        if self.room is not None:
            self.room.begin(run_id)
        return self._replace(
            attempts=Attempts(self.trees, run_id, state),
            checks=CheckMemory(private_directory(place), run_id, place.disk),
        )


def clean_room(
    place: Workplace, trees: Trees | None, directory: Path, shared: Path, project: Workplace
) -> CleanRoom | None:
    """The room for the checks of a work tree; None where there is no git, or samuel.toml wants none.

    All rooms of one run have `shared` in common. `project` is the user's own place, also where this is a lane.
    """
    if trees is None or place.settings.evidence == "in place":
        return None
    # In a sandbox neither HOME nor what is above the room can be written.
    is_host = place.settings.sandbox.kind == sandboxes.HOST
    variables = CheckVariables(place.environment, project.git.location().top, shared if is_host else None)
    return CleanRoom(trees, directory, place.check_directory, PrepareCommand(place), variables)


def prepare_room(place: Workplace, room: CleanRoom, tree: str, ignored: Iterable[str]) -> None:
    """Make ready what the checks need besides the files of a tree, before the first agent. Raises SamuelError."""
    taken = room.prepare(tree, ignored, as_it_is=place.settings.take_environment)
    if taken.left_by_agents:
        named = listed([f"`{file_name(path)}`" for path in taken.left_by_agents], MOST_NAMED)
        place.warn(
            f"agents of an earlier run changed {named}; the checks use the environment of before. Make it anew, "
            "or take it as it is: samuel run start --take-environment"
        )


def private_directory(place: Workplace) -> Path:
    """A directory where a sandboxed agent cannot write; the state directory where there is none."""
    return origin_directory(place.state, place.record)
