"""One lane: a work tree of its own, the project opened in it, and its files before and after each attempt."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.protect import Protected
from samuel.attempt.repository_window import RepositoryWindow
from samuel.attempt.run_files import RunFiles, clean_room, prepare_room
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.steps import Steps
from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.base.errors import SamuelError
from samuel.base.paths import VOLATILE_DIRS, Project
from samuel.checks.memory import CheckMemory
from samuel.evidence.room import CleanRoom
from samuel.files import atomic
from samuel.files.put_inside import move_aside
from samuel.files.regular import read_regular
from samuel.git import worktrees
from samuel.git.commit import forget
from samuel.git.trees import Trees
from samuel.history.acceptance_tests import AcceptanceMemory
from samuel.history.attempts import Attempts
from samuel.history.notices import LaneReport, Report, Watch
from samuel.history.path_set import saved_name
from samuel.history.tree_state import KeptAttempt, TreeState
from samuel.prompts import background, progress
from samuel.tasks.task import Tasks
from samuel.trust import commands
from samuel.workspaces.lanes.rules import MirroredFiles
from samuel.workspaces.lanes.setup import make_ready

LANDING = 0
"""The number of the lane in which merges are checked; agents work in 1, 2, ..."""

LANDING_NAME = "landing"


class LaneTools(NamedTuple):
    """The project, opened in a lane."""

    place: Workplace
    steps: Steps
    close: Callable[[], None]


class LaneReports:
    """Passes on what happens in lanes, one report at a time, each with the number of its lane."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._lock = threading.Lock()

    def report(self, number: int, report: Report) -> None:
        with self._lock:
            self._watch(LaneReport(number, report))


OpenLane = Callable[[int, Path, Watch], LaneTools]


class Lane:
    def __init__(
        self,
        number: int,
        project: Workplace,
        directory: Path,
        protected: Protected,
        journal: Path | None = None,
    ) -> None:
        """`project` is where the run was started, `directory` has all its lanes, `protected` are its rules.

        `journal` is the directory that gets the journals of agents; that of the project unless given.
        """
        self.number = number
        self.project = project
        self.journal = journal or Project(project.root).journal
        self._protected = protected
        self.top = directory / (str(number) if number != LANDING else LANDING_NAME)
        self.root = self.top / os.fsdecode(project.git.location().prefix)
        self._private = private_directory(self.top)
        self._mirrored = MirroredFiles(project.root, self.root, project.lanes.copy)
        self._own_paths: list[str] = []
        self._tools: LaneTools | None = None
        self._opening: tuple[OpenLane, Watch] | None = None
        self._ignored: tuple[str, ...] = ()
        self._is_prepared = False
        self._trees: Trees | None = None
        self._window: RepositoryWindow | None = None
        self.room: CleanRoom | None = None  # None: not open, or samuel.toml wants none
        self._is_looked_at = False
        self._is_sparse = worktrees.is_sparse(project.git)

    @property
    def place(self) -> Workplace:
        assert self._tools is not None, "the lane is not open"
        return self._tools.place

    @property
    def steps(self) -> Steps:
        assert self._tools is not None, "the lane is not open"
        return self._tools.steps

    @property
    def trees(self) -> Trees:
        assert self._trees is not None, "the lane is not open"
        return self._trees

    @property
    def repository(self) -> RepositoryWindow:
        assert self._window is not None, "the lane is not open"
        return self._window

    def make(self, commit: str) -> None:
        """Make the work tree if there is none, and remove the locks that a killed git left in it."""
        self._private.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.is_worktree():
            self.sweep_locks()
            return
        if os.path.lexists(self.top):  # a work tree that git has forgotten: what is in it stays
            os.rename(self.top, _free_name(self.top))
        worktrees.add(self.project.git, self.top, commit)
        (self._private / "setup").unlink(missing_ok=True)

    def damage(self) -> str:
        """Why no attempt can go on in the lane, after an agent did something to it; "" if one can."""
        if not self.is_worktree():
            return "the work tree is gone, or is not one of the repository any more"
        if not self._mark_of_state.exists():
            return "`.samuel/run` was removed, which `git clean -x` does"
        return ""

    @property
    def _mark_of_state(self) -> Path:
        """A file that is there until the state directory is removed."""
        return self.root / ".samuel/run/.gitignore"

    def renew(self, commit: str) -> None:
        """Repair the lane as far as it is damaged; what is left of a work tree is moved aside."""
        assert self._opening is not None, "the lane was never open"
        self.close()
        self.make(commit)
        self.open(*self._opening)

    def open(self, open_lane: OpenLane, watch: Watch) -> None:
        """Open the project in the lane. What an attempt that was killed left there stays."""
        self._opening = (open_lane, watch)
        self._is_looked_at = False
        self._mirror()
        self._tools = open_lane(self.number, self.root, watch)
        os.makedirs(self.place.state, exist_ok=True)
        atomic.write_text(self._mark_of_state, "*\n", durable=False)
        self._trees = Trees(self.place.git, self._private / "trees", self.place.disk)
        self._window = RepositoryWindow(self.place, self._private)
        shared = self.top.with_name("host.samuel")
        self.room = clean_room(self.place, self._trees, self._private, shared, self.project)

    def close(self) -> None:
        if self._tools is not None:
            self._tools.close()
            self._tools = None

    def sweep_locks(self) -> None:
        """Remove the locks of a git that was killed with the agent that started it."""
        worktrees.sweep_locks(self._git_directory(), worktrees.OWN_LOCKS)

    def reset(self, commit: str) -> None:
        """Make the work tree the commit, with the rules of the project, and ready to work in."""
        if not self.is_worktree():
            self.renew(commit)
        self.sweep_locks()
        for path in self.trees.not_kept:  # no ref has them, and git would remove them
            move_aside(self.root, path)
        worktrees.reset(self.place.git, commit, self._own_paths, is_sparse=self._is_sparse)
        if self._mirror() or self._own_paths or not self._is_looked_at:
            self._is_looked_at = True
            entries = self.place.git.status().entries
            # Others may seem changed: git is asked without the filters that wrote them, such as those of LFS.
            self._own_paths = [
                entry.path
                for entry in entries
                if entry.path in self._mirrored.names and not entry.path.startswith(VOLATILE_DIRS)
            ]
        if self.place.lanes != type(self.place.lanes)():
            if why := self.place.refusal(commands.lanes(self.place.lanes)):
                raise SamuelError(why)
            if make_ready(self.place, self._private / "setup"):
                self._is_prepared = False
        if not self._is_prepared:
            self._is_prepared = True
            self._ignored = self.trees.ignored()
            if self.room is not None:
                prepare_room(self.place, self.room, commit, self._ignored)

    def files(
        self, run_id: str, last_attempts: dict[str, KeptAttempt], checks: CheckMemory, stop: Stop, tree: str
    ) -> RunFiles:
        """The files of an attempt that begins with the lane as it is now; `tree` is that of its commit."""
        project = ProjectFiles(self.root, self.place.git)
        if self.room is not None:
            self.room.begin(run_id)
        # The own index knows the work tree as of the last snapshot; since then it became the commit, which takes a
        # third of the git calls that looking at every file does.
        last = self.trees.last
        changed = {*self.trees.differing(last, tree), *self._own_paths} if last else None
        start = self._as_in(tree, self.trees.snapshot(changed))
        person = tuple(sorted(map(saved_name, self._own_paths)))
        state = TreeState(verified=start, left=start, start=start, attempts=last_attempts, person=person)
        return RunFiles(
            PatientTasks(self.place, stop),
            project,
            Protected(self.root, self._protected),
            self.trees,
            Attempts(self.trees, run_id, state, self.number),
            checks.in_lane(self._ignored),
            self.repository,
            AcceptanceMemory(None),
            self.room,
        )

    def _as_in(self, tree: str, start: str) -> str:
        """The work tree, made what it must be where git was told that it already is; `start` is what it is now.

        What is left then is what filters wrote, such as those of LFS.
        """
        stale = self.trees.differing(start, tree) - set(self._own_paths)
        if not stale:
            return start
        forget(self.place.git, stale)
        worktrees.reset(self.place.git, "HEAD", self._own_paths, is_sparse=self._is_sparse)
        return self.trees.snapshot(stale)

    def attempts(self, run_id: str, state: TreeState) -> Attempts:
        """The attempt that a killed run left in the lane."""
        return Attempts(self.trees, run_id, state, self.number)

    def give(self, tasks: Tasks) -> None:
        """Give the lane a task list of its own, and what was learned so far."""
        self.place.tasks.replace_all(tasks)
        SourceMarks(self.project).tell_lane(self.place)
        for name in (background.FILE, background.DOCUMENTS, self.project.progress.name):
            target = self.place.state / name
            target.unlink(missing_ok=True)  # that of a task before, or a link that an agent put there
            with suppress(FileNotFoundError):
                content = read_regular(self.project.state / name)
                if name == self.project.progress.name:
                    content = progress.newest(content)  # else it is rotated here, and new notes are not recognised
                atomic.write_bytes(target, content, durable=False)

    def _mirror(self) -> bool:
        """Make the rules those of the project; whether a file was written for that."""
        update = self._mirrored.update()
        for name in update.missing:
            self.project.warn(f"`[lanes] copy` names `{name}`, which does not exist")
        return update.has_changed

    def is_worktree(self) -> bool:
        """Whether the lane is still a work tree of the repository."""
        return (self.top / ".git").is_file() and (self._git_directory() / "HEAD").exists()

    def _git_directory(self) -> Path:
        """Where git has the files of this work tree alone. Raises OSError if there is none."""
        text = os.fsdecode(read_regular(self.top / ".git")).removeprefix("gitdir:").strip()
        return self.top / text


def private_directory(top: Path) -> Path:
    """What Samuel keeps of a lane beside it, where a sandboxed agent cannot write."""
    return top.with_name(f"{top.name}.samuel")


def _free_name(path: Path) -> Path:
    number = 1
    while os.path.lexists(path.with_name(f"{path.name}.orphan{number}")):
        number += 1
    return path.with_name(f"{path.name}.orphan{number}")
