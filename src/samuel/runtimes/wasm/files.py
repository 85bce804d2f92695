"""The files that a module can reach, through Samuel's host functions and through WASI.

A path is relative to the project, or begins with `/data/` (the plugin's data_dir) or `/plugin/` (its own
directory, read-only). Every file is opened component by component without following links, so what was checked is
what was opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError, UnsafePath
from samuel.confine.walls.places import PROTECTED
from samuel.files.atomic import write_at
from samuel.files.inside import make_dirs_inside, open_inside
from samuel.hooks.capability import READ, WRITE, Capabilities, covers
from samuel.runtimes.wasm.codes import LARGEST, Denied, Failed, NotThere, TooLarge

DATA, PLUGIN = "/data", "/plugin"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Opening(NamedTuple):
    """A directory that is open for WASI when a module starts."""

    fd: int
    name: str
    writable: bool


class _ResolvedPath(NamedTuple):
    """A path, as names below a trusted directory, and what the module may do with it."""

    base: Path
    rest: str
    readable: bool
    writable: bool


class GrantedFiles:
    """The files that a plugin was granted."""

    def __init__(self, root: Path, own: str, data: str, grants: Capabilities) -> None:
        """`own` is the plugin's directory; `data` its data_dir, "" when it has none."""
        self._root = root
        self._own = Path(own)
        self._data = os.path.relpath(data, root) if data else ""
        self._grants = grants

    def read(self, path: str) -> bytes:
        """The content of a file."""
        place = self._resolve(path)
        if not place.readable:
            raise Denied(f"it tried to read `{path}`, and `{READ}` does not cover that")
        with _reporting_errors(path):
            fd = open_inside(place.base, place.rest, flags=os.O_RDONLY)
            try:
                return _read_all(fd, path)
            finally:
                os.close(fd)

    def write(self, path: str, data: bytes) -> None:
        """Replace the whole file, or create it with the directories that are missing."""
        place = self._resolve(path)
        if not place.writable:
            raise Denied(f"it tried to write `{path}`, and `{WRITE}` does not cover that")
        parents, _, name = place.rest.rpartition("/")
        with _reporting_errors(path):
            directory = self._make_directory(parents) if parents else os.open(self._root, _DIRECTORY)
            try:
                _check_replaceable(directory, name, path)
                write_at(directory, name, data, durable=False)
            finally:
                os.close(directory)

    @contextmanager
    def openings(self) -> Iterator[list[Opening]]:
        """The granted directories, open within the context. Granted files are for Samuel's host functions only."""
        with ExitStack() as stack:
            openings: list[Opening] = []
            for name, (path, writable) in self._granted().items():
                with _reporting_errors(name), suppress(FileNotFoundError):
                    fd = self._open(path, make=writable and path.endswith("/"))
                    stack.callback(os.close, fd)
                    if stat.S_ISDIR(os.fstat(fd).st_mode):
                        openings.append(Opening(fd, name, writable))
            with _reporting_errors(PLUGIN):
                fd = os.open(self._own, _DIRECTORY)
                stack.callback(os.close, fd)
                openings.append(Opening(fd, PLUGIN, writable=False))
            yield openings

    def _granted(self) -> dict[str, tuple[str, bool]]:
        """The granted paths by the name that the module sees: the path in the project, and if it is writable."""
        read = [(path, False) for path in self._grants.read]
        writable_pieces = [piece for path in self._grants.write for piece in self._pieces(path)]
        granted = {path.rstrip("/"): (path, writable) for path, writable in (*read, *writable_pieces)}
        return {**granted, DATA: (f"{self._data}/", True)} if self._data else granted

    def _open(self, path: str, make: bool) -> int:
        name = path.rstrip("/")
        if make:
            return self._make_directory(name)
        return os.open(self._root, _DIRECTORY) if name == "." else open_inside(self._root, name, flags=os.O_RDONLY)

    def _make_directory(self, path: str) -> int:
        """The directory at `path`, created if it is missing. Only the user can read those in the data_dir."""
        private = bool(self._data) and f"{path}/".startswith(f"{self._data}/")
        return make_dirs_inside(self._root, path, mode=0o700 if private else 0o777)

    def _pieces(self, path: str) -> Iterator[tuple[str, bool]]:
        """The directories that are opened for a writable path.

        WASI cannot protect a part of a directory. A directory that contains a protected path is opened for
        reading, and each of its other directories for writing.
        """
        plain = path.rstrip("/")
        if _is_protected(plain):
            return
        if plain != "." and not any(protected.startswith(f"{plain}/") for protected in PROTECTED):
            yield path, True
            return
        yield path, False
        for name in _directories(self._root / plain):
            yield from self._pieces(name if plain == "." else f"{plain}/{name}")

    def _resolve(self, path: str) -> _ResolvedPath:
        rest = path
        if path.startswith(f"{PLUGIN}/"):
            return _ResolvedPath(self._own, path.removeprefix(f"{PLUGIN}/"), readable=True, writable=False)
        if self._data and path.startswith(f"{DATA}/"):
            rest = f"{self._data}/{path.removeprefix(f'{DATA}/')}"
        if _is_outside(rest):
            raise Denied(f"it tried to reach {path!r}, which is not a path inside the project")
        if self._data and rest.startswith(f"{self._data}/"):
            return _ResolvedPath(self._root, rest, readable=True, writable=True)
        return _ResolvedPath(
            self._root,
            rest,
            readable=covers((*self._grants.read, *self._grants.write), rest),
            writable=covers(self._grants.write, rest) and not _is_protected(rest),
        )


def _is_outside(path: str) -> bool:
    return "\0" in path or any(name in ("", ".", "..") for name in path.split("/"))


def _is_protected(path: str) -> bool:
    plain = path.casefold()  # some file systems ignore case, and a repository may contain another one
    return ".git" in plain.split("/") or covers(PROTECTED, plain)


def _directories(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _read_all(fd: int, path: str) -> bytes:
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        raise Failed(f"`{path}` is a directory")
    data = bytearray()
    while len(data) <= LARGEST and (chunk := os.read(fd, LARGEST + 1 - len(data))):
        data += chunk
    if len(data) > LARGEST:
        raise TooLarge(f"`{path}` is larger than {LARGEST} bytes")
    return bytes(data)


def _check_replaceable(directory: int, name: str, path: str) -> None:
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise Denied(f"it tried to write `{path}`, which is not a regular file")
    if status.st_nlink > 1:
        raise Denied(f"it tried to write `{path}`, which is a hard link: the same file has another name elsewhere")


@contextmanager
def _reporting_errors(path: str) -> Iterator[None]:
    """Turn errors of the system into those of host functions."""
    try:
        yield
    except UnsafePath as error:
        raise Denied(f"it tried to reach `{path}`: {error.message}") from None
    except FileNotFoundError:
        raise NotThere(f"`{path}` does not exist") from None
    except (OSError, SamuelError) as error:
        raise Failed(f"`{path}`: {error}") from None
