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
from samuel.confine.containers.engine import CLIENT_VARIABLES
from samuel.emit.call import EmitArguments
from samuel.emit.host import leave_to_client, proof_guards, roots_of
from samuel.emit.serve.socket_name import deciding_variables
from samuel.files.survey import ITSELF, TooManyFiles, is_as_before, signature_if_exists
from samuel.process.ledger import MARK
from samuel.process.passed import is_pinned
from samuel.process.shim import STEERING
from samuel.process.tree import own_all_children
from samuel.trust.repository import repository_identity, trust_key

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
        decided_by = _deciding_files(roots)
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
        watched_files = _watched_files(self.app)
        self._warnings = len(self.app.warnings)
        self._directories = directories
        projects = (self.app, *self.app.enclosing)
        proving = bool(decided_by[str(self.app.user.state / paths.CANARIES)])
        self._files: Mapping[str, Any] | None = None  # it depends on more than files
        if watched_files is not None and not any(app.config.distributions for app in projects) and not proving:
            self._files = {**watched_files, **decided_by}
        self.variables = OwnVariables(projects, of_run=of_run)

    def is_current(self) -> bool:
        """Whether opening the project now would give the same."""
        return (
            self._files is not None
            and len(self.app.warnings) == self._warnings  # what only one call was about is not told to the next
            and [repository_identity(root) for root in self._roots] == self._repositories
            and _directories(self._roots) == self._directories
            and _are_as_before(self._files)
        )


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
        roots = (str(self._root),) if self._of_run else roots_of(self._root, logical)
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


def _are_as_before(files: Mapping[str, Any]) -> bool:
    """Whether the files, and those in the directories, are still the same. What cannot be read is not."""
    try:
        return all(is_as_before(place, before) for place, before in files.items())
    except (OSError, TooManyFiles):
        return False


def _deciding_files(roots: Sequence[str]) -> dict[str, Any]:
    """The files that decide which hooks run, apart from hook files, as they were before the project was read."""
    user = paths.User.from_environment()
    files = [user.config, user.lock, user.state / paths.CANARIES]
    for root in roots:
        project = paths.Project(Path(root))
        files += [project.config, project.lock, user.state / "trust" / f"{trust_key(root)}.json"]
    return {str(file): {ITSELF: own} if (own := signature_if_exists(file)) else {} for file in files}


def _watched_files(app: App) -> dict[str, Any] | None:
    """All files that the handlers of a project and the guards around it depend on; None if not only on files."""
    watched: dict[str, Any] = {}
    for project in (app, *app.enclosing):
        if (files := project.discovery.index.watched_files) is None:
            return None
        watched |= files
    return watched


class OwnVariables:
    """The variables that this process has from the caller who started it, as far as a project uses them.

    Hooks see them, so a caller must have the same ones.
    """

    def __init__(self, apps: Sequence[App], *, of_run: bool = False) -> None:
        """`apps` are the project and those around it whose guards are asked, too.

        `of_run`: what a run pins is not compared, since hooks have it from the run also without a server.
        """
        self._own = dict(os.environb)
        self._run_names = {os.fsdecode(name) for name in _deciding(self._own)} if of_run else None
        handlers = [handler for app in apps for handler in app.handlers]
        granted = {name for handler in handlers if handler.package for name in handler.package.grants.env}
        passed = {name for app in apps for name in app.config.pass_env}
        names = map(os.fsencode, (*passed, *granted, *CLIENT_VARIABLES, *STEERING))
        self._names = tuple(name for name in names if self._is_compared(name))
        self._own_deciding = self._compared(self._own)
        self._same = b""  # those of the last caller who agreed: the next one usually has the very same

    def objection(self, variables: bytes) -> str:
        """Why a caller with these variables (`NAME=value`, with NUL between them) is not answered; "" if it is."""
        if variables == self._same:
            return ""
        theirs = _read_as_python_does(variables)
        for name in self._names:
            if theirs.get(name) != self._own.get(name):
                return f"the client has another `{os.fsdecode(name)}` than the server"
        # The name of the socket stands for these; it is short, so they are compared as well.
        if self._compared(theirs) != self._own_deciding:
            return "the client has other variables that hooks see than the server"
        self._same = variables
        return ""

    def _compared(self, variables: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        return {name: value for name, value in _deciding(variables).items() if self._is_compared(name)}

    def _is_compared(self, name: bytes) -> bool:
        return self._run_names is None or not is_pinned(os.fsdecode(name), self._run_names)


def _read_as_python_does(variables: bytes) -> dict[bytes, bytes]:
    """The caller's variables as a process of its own has them: of two with the same name, the first one counts."""
    return dict(variable.split(b"=", 1) for variable in reversed(variables.split(b"\0")) if b"=" in variable)


def _deciding(variables: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """What can change an answer. The mark of a call does not: it only tells whose process this is."""
    deciding = deciding_variables(variables)
    deciding.pop(MARK.encode(), None)
    return deciding
