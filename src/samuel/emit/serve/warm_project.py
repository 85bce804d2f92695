"""The project as the server has it open: looked at before every call, and opened again when something changed.

Everything that an opened project was read from is a file with a signature. One pass over these signatures tells
whether a process that is started now would find the same project. In any doubt it is opened for that call alone.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from samuel.app import App, Overrides
from samuel.base import paths
from samuel.emit import filter_cache
from samuel.emit.call import EmitArguments
from samuel.emit.host import leave_to_client
from samuel.emit.proof_guard import proof_guards
from samuel.emit.serve.deciding_places import DecidingPlaces
from samuel.emit.serve.variables import OwnVariables
from samuel.process.tree import own_all_children
from samuel.trust.repository import repository_identity

# One for each `--env`, for whether a client asks, and for the projects around; the least recently used is closed.
MOST_OPEN = 4

# Directories that must not be links: opening a project refuses them.
_PLAIN_DIRECTORIES = (
    *(paths.HOME, *paths.HOOK_DIRS, ".kodelet", ".samuel/run"),
    *(paths.SYSTEM, paths.YAML_HOOKS),
)


class OpenProject:
    """One opened project, what it was read from, and how many calls use it."""

    def __init__(self, roots: tuple[str, ...], arguments: EmitArguments, *, of_run: bool) -> None:
        """`roots` are its own root and those of the projects around it whose guards are asked, too."""
        self._roots = roots
        self._repositories = [repository_identity(root) for root in roots]
        # Before the project is read: what changes meanwhile is then noticed as a change.
        decided_by = filter_cache.deciding(roots)
        directories = _directories(roots)
        self.app = App(
            roots[0],
            search=False,
            ask=leave_to_client if arguments.client else None,
            overrides=Overrides(
                environment=arguments.environment,
                enclosing=roots[1:],
                user_guards=proof_guards(paths.User.from_environment()),
            ),
        )
        self.users = 0
        self.retired = False
        try:
            self._note(decided_by, directories, of_run=of_run)
        except BaseException:
            self.app.close()
            raise

    def _note(self, decided_by: Mapping[str, Any], directories: Mapping[str, int | None], *, of_run: bool) -> None:
        """Note what the project was read from, and what is the same for all calls."""
        watched_files = filter_cache.watched_files(self.app)
        self._warnings = len(self.app.warnings)
        self._directories = directories
        projects = (self.app, *self.app.enclosing)
        proving = bool(decided_by[str(self.app.user.state / paths.CANARIES)])
        self._files: Mapping[str, Any] | None = None  # it depends on more than files
        if watched_files is not None and not any(app.config.distributions for app in projects) and not proving:
            self._files = {**watched_files, **decided_by}
            self._deciding = DecidingPlaces(self._files, directories)
        self.variables = OwnVariables(projects, of_run=of_run)
        # As without a server: only where the answer depends on nothing but files.
        plain = self._files is not None and filter_cache.is_settled(self.app)
        self.filters = filter_cache.filters(self.app) if plain else None

    def is_current(self) -> bool:
        """Whether opening the project now would give the same."""
        return (
            self._files is not None
            and len(self.app.warnings) == self._warnings  # what only one call was about is not told to the next
            and [repository_identity(root) for root in self._roots] == self._repositories
            and (self._deciding.are_as_before() or self._are_same_when_read_anew(self._files))
        )

    def _are_same_when_read_anew(self, files: Mapping[str, Any]) -> bool:
        """The long way: by each place that decides."""
        return _directories(self._roots) == self._directories and filter_cache.as_it_was(files)


class WarmProject:
    """Hands out the opened project to calls, each of which finds it as it is on disk at that moment."""

    def __init__(self, root: Path, *, of_run: bool = False) -> None:
        own_all_children()  # only Samuel starts processes in this program
        self._root = root
        self._of_run = of_run
        self._lock = threading.Lock()
        self._open: dict[tuple[object, ...], OpenProject] = {}

    @contextmanager
    def current(self, arguments: EmitArguments, logical: str = "") -> Iterator[OpenProject]:
        """The project for one call; `logical` is the caller's PWD."""
        roots = (str(self._root),) if self._of_run else filter_cache.roots_of(self._root, logical)
        key = (arguments.environment, bool(arguments.client), roots)
        with self._lock:  # one look, and one opening, at a time: the calls that wait find it open
            project = self._open.get(key)
            if project is None or not project.is_current():
                self._retire(self._open.pop(key, None))
                project = OpenProject(roots, arguments, of_run=self._of_run)
            self._open.pop(key, None)
            self._open[key] = project  # at the end: the most recently used
            while len(self._open) > MOST_OPEN:
                self._retire(self._open.pop(next(iter(self._open))))
            project.users += 1
        try:
            yield project
        finally:
            with self._lock:
                project.users -= 1
                if project.retired and not project.users:
                    project.app.close()

    def close(self) -> None:
        """End the workers of all opened projects."""
        with self._lock:
            for project in self._open.values():
                project.app.close()
            self._open.clear()

    def _retire(self, project: OpenProject | None) -> None:
        """Close it as soon as the last call that uses it has ended."""
        if project is not None:
            project.retired = True
            if not project.users:
                project.app.close()


def _directories(roots: Sequence[str]) -> dict[str, int | None]:
    """What the directories that must be plain ones are; None for those that do not exist."""
    kinds: dict[str, int | None] = {}
    for place in (f"{root}/{name}" for root in roots for name in _PLAIN_DIRECTORIES):
        try:
            kinds[place] = stat.S_IFMT(os.lstat(place).st_mode)
        except OSError:
            kinds[place] = None
    return kinds
