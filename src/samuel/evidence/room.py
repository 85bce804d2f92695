"""The clean room: a directory of Samuel's own in which the checks run that decide about an attempt.

An agent prepares nothing there. The room has the files of one git tree, byte for byte, and what the project needs
besides (`PreparedEnvironment`), as it was before the first agent. Whatever else a check leaves in it, is removed
before the next tree is shown: no compiled file, no cache and no ignored file of one run is seen by the next.

The room has a git directory of its own, so that checks which ask git get an answer: objects are those of the
repository, branches and tags those of the moment when the room was made, and the index is the tree that is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import file_name
from samuel.evidence.check_directory import CheckDirectory, RoomFailed
from samuel.evidence.environment import BUILT, Preparation, PreparedEnvironment, TakenEnvironment, needed
from samuel.evidence.room_files import RoomFiles
from samuel.evidence.surroundings.copies import remove
from samuel.evidence.surroundings.host_settings import HostSettings
from samuel.evidence.surroundings.variables import lead_to
from samuel.git.output import GITLINK
from samuel.git.room_repository import RoomRepository
from samuel.git.trees import Trees

ROOM = "room"
"""The directory that the room of a work tree is in, among what Samuel keeps of it."""


STATE = "checks"
"""The directory beside it in which Samuel and a check exchange files, such as reports."""


class CheckVariables(NamedTuple):
    """The variables that checks get from their user, and what has to be done about them."""

    variables: Mapping[str, str]
    project: Path
    """The top of the user's own work tree: a PATH may lead to a virtual environment there."""
    shared: Path | None = None
    """Where agents can write into HOME: a directory that all rooms of one run share."""


class CleanRoom:
    """The room of one work tree, in `directory`, which an agent in a sandbox cannot write."""

    is_clean = True

    def __init__(
        self,
        trees: Trees,
        directory: Path,
        commands: CheckDirectory,
        preparation: Preparation | None = None,
        variables: CheckVariables | None = None,
    ) -> None:
        """`commands` is told where check commands run while a tree is shown, and with which variables."""
        self._trees = trees
        self._commands = commands
        location = trees.git.location()
        self._top = self.top = directory / ROOM / (location.top.name or "project")
        self.root = self._top / os.fsdecode(location.prefix)
        self._environment = PreparedEnvironment(location.top, directory, self._top, preparation)
        self._files = RoomFiles(trees, self._top, self._environment.is_kept)
        self._repository = RoomRepository(trees.git, self._top)
        self._has_command = preparation is not None and bool(preparation.command)
        self._state = directory / STATE
        self._variables = variables
        self._host: HostSettings | None = None
        if variables is not None and variables.shared is not None:
            self._host = HostSettings(variables.shared, directory, self._top, variables.variables)
        self.environment = ""
        """How what checks need besides the files of a tree is kept from agents, in words."""

    def begin(self, run_id: str) -> None:
        """Note what checks read outside of the project, before the first agent of a run. Idempotent."""
        if self._host is not None:
            self._host.begin(run_id)

    def prepare(self, tree: str, ignored: Iterable[str], *, as_it_is: bool = False) -> TakenEnvironment:
        """Make ready what the checks need besides the files of a tree, before the first agent. Raises SamuelError.

        `ignored` are the paths of the project that git ignores; the submodules of `tree` are taken as well. With
        `as_it_is`, so is what agents of an earlier run left.
        """
        prefix = os.fsdecode(self._trees.git.location().prefix)
        submodules = [entry.path for entry in self._trees.whole(tree) if entry.mode == GITLINK]
        paths = [*(prefix + path for path in needed(ignored)), *submodules]
        taken = self._environment.take(paths, as_it_is=as_it_is)
        self.environment = taken.how
        if self._has_command:
            with self._show(tree, is_verified=True):
                pass
        return taken

    def changed_environment(self) -> list[str]:
        """The files of the environment in the work tree that changed since the last call: agents did that."""
        return self._environment.look()

    @property
    def environment_paths(self) -> tuple[str, ...]:
        """The paths below the top that no tree has, and checks need."""
        return self._environment.paths

    def keep_built(self) -> None:
        """Keep what checks of the verified tree built and compiled, so that later checks need not do it again."""
        built = (path for path in self._files.others() if path.rpartition("/")[2] in BUILT)
        self._environment.keep_built([*built])

    def showing(self, tree: str) -> AbstractContextManager[None]:
        """Let check commands run on this tree. Raises RoomFailed, and GitFailed."""
        return self._show(tree)

    @contextmanager
    def _show(self, tree: str, *, is_verified: bool = False) -> Iterator[None]:
        of_host = self._host.variables() if self._host is not None else {}
        remove(self._state)
        self._state.mkdir(parents=True, mode=0o700)
        with self._commands.at(self.root, self._moved(of_host), self._state):
            try:
                self._write(tree)
                write = partial(self._write, tree)
                self._environment.lay_out(self._files, self.root, write, is_verified=is_verified)
                self._repository.show(tree)
            except OSError as error:
                self._files.forget()
                where = file_name(os.fsdecode(error.filename)) if error.filename else "the clean room"
                raise RoomFailed(
                    f"cannot write `{where}`: {error.strerror}", "make room, or check its rights"
                ) from None
        with self._commands.at(self.root, self._moved(of_host), self._state):
            yield

    def _moved(self, of_host: Mapping[str, str]) -> dict[str, str]:
        """The variables that differ from the user's: what leads to a work tree there leads to the room here."""
        if self._variables is None:
            return {**of_host}
        work_tree, project = self._trees.git.location().top, self._variables.project
        before = {**self._variables.variables, **of_host}
        after = lead_to(self._top, work_tree, before)
        if project != work_tree:  # a lane, which may lack what the project has
            after = lead_to(self._top, project, after, if_it_exists=True)
        return {**of_host, **{name: value for name, value in after.items() if value != before[name]}}

    def _write(self, tree: str) -> None:
        self._files.write(tree)
        self.root.mkdir(parents=True, exist_ok=True)

    def changed(self) -> dict[str, bytes | None]:
        """The files of the project that checks changed since the tree was shown; None for one that they removed.

        A formatter among the checks does that. New files do not count: a cache is one more often than not.
        """
        return self._files.changed(f"{self.root.relative_to(self._top)}/" if self.root != self._top else "")
