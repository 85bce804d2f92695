"""The walls around a plugin's processes: which paths they can reach, and their environment.

Of the host's environment they get only PATH, the language, the time zone, and the variables that the plugin was
granted. HOME is a directory outside of the project, one per plugin: files that came with a clone must not
influence the programs of a trusted plugin.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from samuel.base.paths import Project
from samuel.confine.walls import installation, walls
from samuel.confine.walls.limits import ProcessLimits
from samuel.confine.walls.places import PROTECTED, GrantedPaths, WallPlaces, below, machine, opened
from samuel.confine.walls.walls import WalledCommand
from samuel.hooks.handler import Package
from samuel.process import environment, shim
from samuel.process.reason import NotRunnable
from samuel.runtimes.base import Setting

_PASSED = ("LANG", "LANGUAGE", "TZ")
_TMP = "tmp"  # in its home, where there is no private /tmp

Stamp = tuple[tuple[int, int], ...]


class Confinement:
    """The walls around the plugins of one project."""

    def __init__(self, setting: Setting) -> None:
        self._limits = ProcessLimits(setting.limits.script_memory_bytes, setting.limits.script_processes)
        self._project = Project(Path(os.path.realpath(setting.root)))
        self._cache = setting.cache
        self._kind = setting.walls
        self._places: dict[tuple[Package, bool], WallPlaces] = {}
        self._watched: dict[Package, tuple[str, ...]] = {}
        self.path = _search_path()

    @contextmanager
    def walled(
        self,
        package: Package,
        argv: Sequence[str],
        *,
        asking: bool = False,
        stays: bool = False,
        visible: Sequence[str] = (),
    ) -> Iterator[WalledCommand]:
        """The command that runs `argv` within the plugin's walls.

        With `asking` the plugin is only asked for its events, and gets no grants. Raises NotGranted when a granted
        path is refused, NotRunnable when the program is not available within the walls.
        """
        inside = self.inside(package, asking=asking)
        allowed = GrantedPaths() if asking else grants(package)
        readable = (*visible, *self._visible(argv[0], package))
        self._check(argv[0], allowed, inside, readable)
        with walls.walled(
            argv, allowed, inside, visible=readable, stays=stays, kind=self._kind, limits=self._limits
        ) as command:
            yield command

    def inside(self, package: Package, *, asking: bool = False) -> WallPlaces:
        """The directories of the plugin's walls. With `asking` it sees only its own directory, not the project."""
        places = self._places.get((package, asking))
        if places is not None:
            return places
        home = str(self._cache / "plugins" / self.key(package))
        try:
            os.makedirs(os.path.join(home, _TMP), mode=0o700, exist_ok=True)
        except OSError as error:
            raise NotRunnable(f"a plugin's home `{home}` cannot be created: {error.strerror}") from error
        if asking:
            places = WallPlaces(package.directory, package.directory, home=home)
        else:
            data = str(self._project.data_dir(package.name))
            places = WallPlaces(str(self._project.root), package.directory, data, home)
        return self._places.setdefault((package, asking), places)

    def stamp(self, package: Package) -> Stamp:
        """A value that changes when a path in the plugin's walls is created, removed or replaced.

        A process that is kept for later calls sees the paths it was started with: not a directory that a checkout
        put there since. Nor is a file protected that replaced a protected one.
        """
        watched = self._watched.get(package)
        if watched is None:
            root, own, data, _ = self.inside(package)
            granted = (*package.grants.read, *package.grants.write, *(PROTECTED if package.grants.write else ()))
            watched = (own, data, *(os.path.join(root, name) for name in granted))
            self._watched[package] = watched
        return tuple(map(_file_identity, watched))

    def first_stamp(self, package: Package) -> Stamp:
        """The stamp for a process that is about to be started, after all missing directories are created."""
        with opened(grants(package), self.inside(package)):
            return self.stamp(package)

    def environment(self, package: Package, program: str = "") -> dict[str, str]:
        """The environment of the plugin's processes. PATH has only directories that they can see."""
        readable = (*machine(), *self._visible(program, package))
        names = {name for name in package.grants.env if name not in environment.WITHHELD}
        env = {  # by name: `items` would decode the values of all the others too
            name: os.environ[name]
            for name in os.environ
            if name in names or name in _PASSED or name.startswith("LC_")
        }
        home = self.inside(package).home
        private = (self._kind or walls.strength().kind) == walls.BWRAP
        return {
            **env,
            "PATH": _visible_path(self.path, readable),
            "HOME": home,
            "TMPDIR": "/tmp" if private else os.path.join(home, _TMP),
            "PYTHONPYCACHEPREFIX": self.pycache(package),
        }

    def pycache(self, package: Package) -> str:
        """The plugin's own bytecode cache; one beside the sources may have come with a clone."""
        return os.path.join(self.inside(package).home, "pycache")

    def key(self, package: Package) -> str:
        """A key that differs between plugins, and between grants of the same plugin."""
        return _key(package)

    def _visible(self, program: str, package: Package) -> tuple[str, ...]:
        root = str(self._project.root)
        on_path = installation.on_path(self.path, root)
        # A plugin may name any file as the program of a script. The installation around a program is made visible
        # only if the host itself has it on PATH.
        if (
            os.path.dirname(program) in self.path.split(os.pathsep)
            or program in (sys.executable, package.python)
            or shim.leads_to(program)
        ):
            return (*installation.of_program(program, root), *on_path)
        return on_path

    def _check(self, program: str, allowed: GrantedPaths, inside: WallPlaces, visible: Sequence[str]) -> None:
        granted = (os.path.normpath(os.path.join(inside.root, path)) for path in (*allowed.read, *allowed.write))
        places = (*machine(), *visible, inside.own, inside.data, *granted)
        if os.path.isabs(program) and not _within(program, places):
            raise NotRunnable(f"`{program}` is not where a plugin may read; use a program that is on PATH")


def grants(package: Package) -> GrantedPaths:
    """The plugin's grants for a process. A list of hosts is only for modules: it gives a process no network."""
    return GrantedPaths(package.grants.read, package.grants.write, package.grants.network is True)


# The two that follow compare every path with every place, for each call of a script: as much work as starting it.
@lru_cache
def _visible_path(path: str, places: tuple[str, ...]) -> str:
    """The directories of a search path that are within one of the places."""
    return os.pathsep.join(directory for directory in path.split(os.pathsep) if _within(directory, places))


@lru_cache
def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or below(path, place) for place in places if place)


def _file_identity(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


@cache
def _key(package: Package) -> str:
    identity = msgspec.json.encode((package.name, package.directory, package.python, package.grants))
    return hashlib.sha256(identity).hexdigest()[:16]


def _search_path() -> str:
    """The host's PATH without relative entries, followed by the usual directories."""
    directories = (os.environ.get("PATH", "").split(os.pathsep), environment.DEFAULT_PATH.split(os.pathsep))
    return os.pathsep.join(
        dict.fromkeys(directory for some in directories for directory in some if os.path.isabs(directory))
    )
