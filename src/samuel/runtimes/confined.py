"""From a plugin to the walls around its processes: what it may reach, and the environment it finds there.

Nothing of the host's environment is passed on but where programs are, the language, the time zone, and the names
that the plugin was granted. Its home is a directory of its own, outside of the project: what a clone brings along
must not steer the programs of a plugin that somebody agreed to.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from samuel.hooks.package import Package
from samuel.paths import Project
from samuel.process import environment, shim
from samuel.process.confine import installation, walls
from samuel.process.confine.walls import Allowed, Inside, Walled
from samuel.process.confine.walls_places import below, machine
from samuel.process.reason import NotRunnable

_PASSED = ("LANG", "LANGUAGE", "TZ")

SAMUEL = str(Path(__file__).parents[2])
"""Where a worker finds Samuel, and where what Samuel needs in a worker is."""
NEEDED = str(Path(msgspec.__file__).parents[1])


class Confinement:
    """The walls around the plugins of one project."""

    def __init__(self, root: Path, cache: Path, kind: str = "") -> None:
        """`kind` asks for other walls than the best that the machine has."""
        self._project = Project(Path(os.path.realpath(root)))
        self._cache = cache
        self._kind = kind
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
    ) -> Iterator[Walled]:
        """The command that runs `argv` within the plugin's walls. To be asked what it is for takes no grants.

        Raises NotGranted when something in the walls is refused, NotRunnable when the program cannot be had there.
        """
        inside = self.inside(package, asking=asking)
        allowed = Allowed() if asking else grants(package)
        seen = (*visible, *self._visible(argv[0], package))
        self._check(argv[0], allowed, inside, seen)
        os.makedirs(os.path.join(inside.home, "tmp"), mode=0o700, exist_ok=True)
        with walls.walled(argv, allowed, inside, visible=seen, stays=stays, kind=self._kind) as command:
            yield command

    def inside(self, package: Package, *, asking: bool = False) -> Inside:
        """Asked what it is for, it is in its own directory: it need not even know which project asks."""
        home = str(self._cache / "plugins" / self.key(package))
        if asking:
            return Inside(package.directory, package.directory, home=home)
        data = str(self._project.data_dir(package.name))
        return Inside(str(self._project.root), package.directory, data, home)

    def environment(self, package: Package) -> dict[str, str]:
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
            "PATH": self.path,
            "HOME": home,
            "TMPDIR": "/tmp" if private else os.path.join(home, "tmp"),
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

    def _check(self, program: str, allowed: Allowed, inside: Inside, visible: Sequence[str]) -> None:
        granted = (os.path.normpath(os.path.join(inside.root, path)) for path in (*allowed.read, *allowed.write))
        places = (*machine(), *visible, inside.own, inside.data, *granted)
        if os.path.isabs(program) and not any(program == one or below(program, one) for one in places if one):
            raise NotRunnable(f"`{program}` is not where a plugin may read; use a program that is on PATH")


def grants(package: Package) -> Allowed:
    """A list of hosts is for modules, which Samuel connects itself; a process has a network or none."""
    return Allowed(package.grants.read, package.grants.write, package.grants.network is True)


@cache
def _key(package: Package) -> str:
    said = msgspec.json.encode((package.name, package.directory, package.python, package.grants))
    return hashlib.sha256(said).hexdigest()[:16]


def _search_path() -> str:
    """The host's PATH without its relative entries, and the usual places at its end."""
    directories = (os.environ.get("PATH", "").split(os.pathsep), environment.DEFAULT_PATH.split(os.pathsep))
    return os.pathsep.join(dict.fromkeys(one for some in directories for one in some if os.path.isabs(one)))
