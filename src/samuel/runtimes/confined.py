"""From a plugin to the walls around its processes: what it may reach, and the environment it finds there.

Nothing of the host's environment is passed on but where programs are, the language, the time zone, and the names
that the plugin was granted. Its home is a directory of its own, outside of the project: what a clone brings along
must not steer the programs of a plugin that somebody agreed to.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from samuel.hooks.package import Package
from samuel.paths import Project
from samuel.process import environment, shim
from samuel.process.reason import NotRunnable
from samuel.process.walls import installation, walls
from samuel.process.walls.limits import DEFAULT, ProcessLimits
from samuel.process.walls.places import PROTECTED, below, machine, opened
from samuel.process.walls.walls import GrantedPaths, WalledCommand, WallPlaces

_PASSED = ("LANG", "LANGUAGE", "TZ")
_TMP = "tmp"  # in its home, where there is no private /tmp

Stamp = tuple[tuple[int, int], ...]

SAMUEL = str(Path(__file__).parents[2])
"""Where a worker finds Samuel, and where what Samuel needs in a worker is."""
NEEDED = str(Path(msgspec.__file__).parents[1])


class Confinement:
    """The walls around the plugins of one project."""

    def __init__(self, root: Path, cache: Path, kind: str = "", limits: ProcessLimits = DEFAULT) -> None:
        """`kind` asks for other walls than the best that the machine has."""
        self._limits = limits
        self._project = Project(Path(os.path.realpath(root)))
        self._cache = cache
        self._kind = kind
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
        """The command that runs `argv` within the plugin's walls. To be asked what it is for takes no grants.

        Raises NotGranted when something in the walls is refused, NotRunnable when the program cannot be had there.
        """
        inside = self.inside(package, asking=asking)
        allowed = GrantedPaths() if asking else grants(package)
        seen = (*visible, *self._visible(argv[0], package))
        self._check(argv[0], allowed, inside, seen)
        with walls.walled(
            argv, allowed, inside, visible=seen, stays=stays, kind=self._kind, limits=self._limits
        ) as command:
            yield command

    def inside(self, package: Package, *, asking: bool = False) -> WallPlaces:
        """Asked what it is for, it is in its own directory: it need not even know which project asks."""
        known = self._places.get((package, asking))
        if known is not None:
            return known
        home = str(self._cache / "plugins" / self.key(package))
        try:
            os.makedirs(os.path.join(home, _TMP), mode=0o700, exist_ok=True)
        except OSError as error:
            raise NotRunnable(f"a plugin's home `{home}` cannot be made: {error.strerror}") from error
        if asking:
            found = WallPlaces(package.directory, package.directory, home=home)
        else:
            data = str(self._project.data_dir(package.name))
            found = WallPlaces(str(self._project.root), package.directory, data, home)
        return self._places.setdefault((package, asking), found)

    def stamp(self, package: Package) -> Stamp:
        """Changes when a place in the plugin's walls is another one than before, or there at all.

        A process that is kept has the places it was started with: not the directory that a checkout has put there
        since, and not the protection of a file that was replaced.
        """
        watched = self._watched.get(package)
        if watched is None:
            root, own, data, _ = self.inside(package)
            granted = (*package.grants.read, *package.grants.write, *(PROTECTED if package.grants.write else ()))
            watched = (own, data, *(os.path.join(root, name) for name in granted))
            self._watched[package] = watched
        return tuple(map(_which, watched))

    def first_stamp(self, package: Package) -> Stamp:
        """The stamp for a process that is about to be started: whatever is to be made is there by then."""
        with opened(grants(package), self.inside(package)):
            return self.stamp(package)

    def environment(self, package: Package, program: str = "") -> dict[str, str]:
        """What a process of the plugin finds in its environment. Only what it can see is on its PATH."""
        seen = (*machine(), *self._visible(program, package))
        names = {name for name in package.grants.env if name not in environment.WITHHELD}
        env = {
            name: value
            for name, value in os.environ.items()
            if name in names or name in _PASSED or name.startswith("LC_")
        }
        home = self.inside(package).home
        private = (self._kind or walls.strength().kind) == walls.BWRAP
        return {
            **env,
            "PATH": os.pathsep.join(one for one in self.path.split(os.pathsep) if _within(one, seen)),
            "HOME": home,
            "TMPDIR": "/tmp" if private else os.path.join(home, _TMP),
            "PYTHONPYCACHEPREFIX": self.pycache(package),
        }

    def pycache(self, package: Package) -> str:
        """Not beside the sources, which a clone may have brought caches along for, and no other plugin's."""
        return os.path.join(self.inside(package).home, "pycache")

    def key(self, package: Package) -> str:
        """Never the same for two plugins, nor for two grants."""
        return _key(package)

    def _visible(self, program: str, package: Package) -> tuple[str, ...]:
        root = str(self._project.root)
        shown = installation.on_path(self.path, root)
        # A plugin may name any program in its scripts. Only where the host keeps programs is more than that shown.
        if (
            os.path.dirname(program) in self.path.split(os.pathsep)
            or program in (sys.executable, package.python)
            or shim.leads_to(program)
        ):
            return (*installation.of_program(program, root), *shown)
        return shown

    def _check(self, program: str, allowed: GrantedPaths, inside: WallPlaces, visible: Sequence[str]) -> None:
        granted = (os.path.normpath(os.path.join(inside.root, path)) for path in (*allowed.read, *allowed.write))
        places = (*machine(), *visible, inside.own, inside.data, *granted)
        if os.path.isabs(program) and not _within(program, places):
            raise NotRunnable(f"`{program}` is not where a plugin may read; use a program that is on PATH")


def grants(package: Package) -> GrantedPaths:
    """A list of hosts is for modules, which Samuel connects itself; a process has a network or none."""
    return GrantedPaths(package.grants.read, package.grants.write, package.grants.network is True)


def _within(path: str, places: Iterable[str]) -> bool:
    return any(path == place or below(path, place) for place in places if place)


def _which(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


@cache
def _key(package: Package) -> str:
    said = msgspec.json.encode((package.name, package.directory, package.python, package.grants))
    return hashlib.sha256(said).hexdigest()[:16]


def _search_path() -> str:
    """The host's PATH without its relative entries, and the usual places at its end."""
    directories = (os.environ.get("PATH", "").split(os.pathsep), environment.DEFAULT_PATH.split(os.pathsep))
    return os.pathsep.join(dict.fromkeys(one for some in directories for one in some if os.path.isabs(one)))
