"""What checks need and git does not have, as it was before the first agent: `.venv`, `node_modules`, ...

It is copied once, while no agent has worked, to a directory of Samuel's own. The room gets a copy of that copy. A
change that a check makes to it is noticed, by the same facts that git goes by, and undone before the next check.
What checks compile from the verified tree, before the first agent, is kept with it: no later run has to.

A virtual environment of Python has its own path in its programs and in the files that lead to a project installed
for editing: in the copy these lead to the room.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.base.paths import HOME
from samuel.base.printable import file_name, safe
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.files.survey import Signature, signature
from samuel.process import spawn

LIMIT = 4 << 30
"""Bytes that are copied at most. More is not copied before a run, and the checks run in place."""

# What checks and editors keep for themselves. A cache that another tree filled can make a check pass.
CACHES = frozenset(
    (
        *(
            ".vite",
            ".vitest",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
            ".hypothesis",
            ".tox",
            ".nox",
            ".coverage",
        ),
        *("htmlcov", ".cache", ".parcel-cache", ".turbo", ".nyc_output", "coverage", ".eslintcache", ".gradle"),
        *(".idea", ".vscode", ".DS_Store", ".direnv"),
    )
)
# What is built from the source: made in the room, from the tree that is shown there.
BUILT = frozenset(("target", "build", "dist", "out", "obj", ".next", ".nuxt", ".svelte-kit", "_build", "bin"))
_COPY = ("cp", "-a", "--reflink=auto") if sys.platform == "linux" else ("cp", "-a")
_TIMEOUT = 1800.0
_RELOCATED = ("bin/*", "Scripts/*", "pyvenv.cfg")
_RELOCATED_PACKAGES = ("*.pth", "*.egg-link", "__editable__*", "*.dist-info/direct_url.json")
_MOST_RELOCATED = 1 << 20  # bytes of a file that names a path


class EnvironmentTooLarge(SamuelError):
    """What git ignores in the project is more than is copied."""


def needed(ignored: Iterable[str]) -> list[str]:
    """Those of the paths that git ignores which a check may need: neither caches nor what is built."""
    paths = (path.rstrip("/") for path in ignored)
    left_out = CACHES | BUILT | {"__pycache__", HOME}
    return [path for path in paths if not {*path.split("/")} & left_out and not path.endswith((".pyc", ".log"))]


class PreparedEnvironment:
    """The paths of one project's environment; `directory` keeps the copy that the room is filled from."""

    def __init__(self, source: Path, directory: Path, room: Path) -> None:
        """`source` is the top of the work tree, and `room` where the environment is used."""
        self._source = source
        self._directory = directory
        self._room = room
        self._manifest = directory.with_suffix(".json")
        # None: not in the room yet. A run that was killed goes on with what it took.
        self._paths: dict[str, Mapping[str, Signature] | None] = dict.fromkeys(self._load())

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def take(self, paths: Sequence[str]) -> None:
        """Copy these paths of the work tree, before an agent changes them. Raises EnvironmentTooLarge."""
        present = [path for path in paths if os.path.lexists(self._source / path)]
        size = sum(_size(self._source / path) for path in present)
        if size > LIMIT:
            named = ", ".join(f"`{file_name(path)}`" for path in present[:5])
            raise EnvironmentTooLarge(
                f"what git ignores and the checks may need has {size >> 20} MiB: {named}",
                'set `evidence = "in place"`, or `prepare` to a command that makes what the checks need',
            )
        remove(self._directory)
        self._directory.mkdir(parents=True, mode=0o700)
        for path in present:
            copy(self._source / path, self._directory / path)
            for file in _relocated(self._directory / path):
                _relocate(file, os.fsencode(self._source), os.fsencode(self._room))
        self._paths = dict.fromkeys(present)
        self._save()

    def _load(self) -> list[str]:
        try:
            return decode_json(read_regular(self._manifest), list[str])
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return []

    def _save(self) -> None:
        atomic.write_bytes(self._manifest, msgspec.json.encode(list(self._paths)), 0o600, durable=False)

    def keep_built(self, top: Path, built: Iterable[str]) -> None:
        """Keep what checks of the verified tree made in the room: `built`, and what they compiled elsewhere."""
        for path in built:
            remove(self._directory / path)
            copy(top / path, self._directory / path)
            self._paths[path] = _survey(top / path)
        for path, before in self._paths.items():
            now = _survey(top / path)
            for name in now.keys() if now != before else ():
                if before is None or now[name] != before.get(name):
                    _copy_file(top / path / name, self._directory / path / name)
            self._paths[path] = now
        self._save()

    def has(self, path: str) -> bool:
        """Whether this path of the room belongs to the environment."""
        return path in self._paths

    def is_below(self, directory: str) -> bool:
        """Whether something of the environment is in this directory."""
        return any(path.startswith(f"{directory}/") for path in self._paths)

    def lay_out(self, top: Path) -> None:
        """Make the environment in the room what it was when it was taken."""
        for path, signatures in self._paths.items():
            if signatures is None or _survey(top / path, is_swept=True) != signatures:
                remove(top / path)
                copy(self._directory / path, top / path)
                self._paths[path] = _survey(top / path, is_swept=True)


def copy(source: Path, target: Path) -> None:
    """Copy a file or a directory with its times and rights. Raises SamuelError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    finished = spawn.run([*_COPY, "--", str(source), str(target)], cwd="/", env=os.environ, timeout=_TIMEOUT)
    if finished.ended != "exited" or finished.returncode != 0:
        problem = safe(finished.stderr.decode("utf-8", "replace")).strip() or finished.ended
        raise SamuelError(f"cannot copy `{file_name(source.name)}`: {problem[-300:]}", "make room on that disk")


def remove(path: Path) -> None:
    """Remove a file or a directory with all that is in it, also what its owner made unwritable."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        for directory, _, _ in os.walk(path):
            os.chmod(directory, 0o700)
        shutil.rmtree(path)


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    remove(target)
    shutil.copy2(source, target, follow_symlinks=False)


def _survey(path: Path, *, is_swept: bool = False) -> dict[str, Signature]:
    """Every file at or below a path by its name there, with what tells whether it changed.

    Caches are left out; `is_swept` removes them.
    """
    try:
        own = os.lstat(path)
    except FileNotFoundError:
        return {}
    if not stat.S_ISDIR(own.st_mode):
        return {"": signature(own)}
    signatures: dict[str, Signature] = {}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(path / prefix) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    signatures[prefix + entry.name] = signature(entry.stat(follow_symlinks=False))
                elif entry.name not in CACHES:
                    waiting.append(f"{prefix}{entry.name}/")
                elif is_swept:
                    remove(Path(entry.path))
    return signatures


def _size(path: Path) -> int:
    own = os.lstat(path)
    if not stat.S_ISDIR(own.st_mode):
        return own.st_size
    return sum(facts[0] for facts in _survey(path).values())


def _relocated(directory: Path) -> Iterator[Path]:
    """The files of virtual environments at or below a directory that name the place they are at."""
    for config in [directory / "pyvenv.cfg", *directory.glob("*/pyvenv.cfg")]:
        if config.is_file():
            place = config.parent
            for pattern in _RELOCATED:
                yield from place.glob(pattern)
            for packages in place.glob("lib/python*/site-packages"):
                for pattern in _RELOCATED_PACKAGES:
                    yield from packages.glob(pattern)


def _relocate(file: Path, old: bytes, new: bytes) -> None:
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_RELOCATED:
        return
    content = file.read_bytes()
    if old in content and b"\0" not in content:
        file.write_bytes(content.replace(old, new))
