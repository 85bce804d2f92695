"""Which files a module reaches, and how: through Samuel's own functions, and through WASI.

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

from samuel.errors import SamuelError, UnsafePath
from samuel.files.atomic import write_at
from samuel.files.inside import make_dirs_inside, open_inside
from samuel.hooks.capability import READ, WRITE, Capabilities, covers
from samuel.process.walls.places import PROTECTED
from samuel.runtimes.wasm.codes import LARGEST, Denied, Failed, NotThere, TooLarge

DATA, PLUGIN = "/data", "/plugin"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Opening(NamedTuple):
    """A directory that a module finds open when it starts."""

    fd: int
    name: str
    writable: bool


class _Place(NamedTuple):
    """Where a path leads: names below a directory that we vouch for."""

    base: Path
    rest: str
    readable: bool
    writable: bool


class GrantedFiles:
    def __init__(self, root: Path, own: str, data: str, grants: Capabilities) -> None:
        """`own` is the plugin's directory; `data` its data_dir, "" when it has none."""
        self._root = root
        self._own = Path(own)
        self._data = os.path.relpath(data, root) if data else ""
        self._grants = grants

    def read(self, path: str) -> bytes:
        place = self._place(path)
        if not place.readable:
            raise Denied(f"it tried to read `{path}`, and `{READ}` does not cover that")
        with _faults(path):
            fd = open_inside(place.base, place.rest, flags=os.O_RDONLY)
            try:
                return _whole(fd, path)
            finally:
                os.close(fd)

    def write(self, path: str, data: bytes) -> None:
        """Replace the file whole, or create it, and the directories on the way to it."""
        place = self._place(path)
        if not place.writable:
            raise Denied(f"it tried to write `{path}`, and `{WRITE}` does not cover that")
        parents, _, name = place.rest.rpartition("/")
        with _faults(path):
            directory = self._made(parents) if parents else os.open(self._root, _DIRECTORY)
            try:
                _check_replaceable(directory, name, path)
                write_at(directory, name, data, durable=False)
            finally:
                os.close(directory)

    @contextmanager
    def openings(self) -> Iterator[list[Opening]]:
        """The granted directories, open while this lasts. What is granted and no directory has to be read and
        written through Samuel's own functions."""
        with ExitStack() as stack:
            found: list[Opening] = []
            for name, (path, writable) in self._granted().items():
                with _faults(name), suppress(FileNotFoundError):
                    fd = self._opened(path, make=writable and path.endswith("/"))
                    stack.callback(os.close, fd)
                    if stat.S_ISDIR(os.fstat(fd).st_mode):
                        found.append(Opening(fd, name, writable))
            with _faults(PLUGIN):
                fd = os.open(self._own, _DIRECTORY)
                stack.callback(os.close, fd)
                found.append(Opening(fd, PLUGIN, writable=False))
            yield found

    def _granted(self) -> dict[str, tuple[str, bool]]:
        """The name that the module sees; the path in the project, and whether it may write there."""
        read = [(path, False) for path in self._grants.read]
        written = [piece for path in self._grants.write for piece in self._pieces(path)]
        granted = {path.rstrip("/"): (path, writable) for path, writable in (*read, *written)}
        return {**granted, DATA: (f"{self._data}/", True)} if self._data else granted

    def _opened(self, path: str, make: bool) -> int:
        name = path.rstrip("/")
        if make:
            return self._made(name)
        return os.open(self._root, _DIRECTORY) if name == "." else open_inside(self._root, name, flags=os.O_RDONLY)

    def _made(self, path: str) -> int:
        """The directory at `path`, made if it is missing. What a plugin keeps for itself is for nobody else."""
        private = bool(self._data) and f"{path}/".startswith(f"{self._data}/")
        return make_dirs_inside(self._root, path, mode=0o700 if private else 0o777)

    def _pieces(self, path: str) -> Iterator[tuple[str, bool]]:
        """WASI knows no exception inside a directory. One that holds what must not be written is opened for
        reading, and those beside that each for writing."""
        plain = path.rstrip("/")
        if _never_written(plain):
            return
        if plain != "." and not any(one.startswith(f"{plain}/") for one in PROTECTED):
            yield path, True
            return
        yield path, False
        for name in _directories(self._root / plain):
            yield from self._pieces(name if plain == "." else f"{plain}/{name}")

    def _place(self, path: str) -> _Place:
        rest = path
        if path.startswith(f"{PLUGIN}/"):
            return _Place(self._own, path.removeprefix(f"{PLUGIN}/"), readable=True, writable=False)
        if self._data and path.startswith(f"{DATA}/"):
            rest = f"{self._data}/{path.removeprefix(f'{DATA}/')}"
        if _leads_out(rest):
            raise Denied(f"it tried to reach {path!r}, which is no path inside the project")
        if self._data and rest.startswith(f"{self._data}/"):
            return _Place(self._root, rest, readable=True, writable=True)
        return _Place(
            self._root,
            rest,
            readable=covers((*self._grants.read, *self._grants.write), rest),
            writable=covers(self._grants.write, rest) and not _never_written(rest),
        )


def _leads_out(path: str) -> bool:
    return "\0" in path or any(name in ("", ".", "..") for name in path.split("/"))


def _never_written(path: str) -> bool:
    plain = path.casefold()  # some file systems take `.GIT` for `.git`, and a repository may lie in another
    return ".git" in plain.split("/") or covers(PROTECTED, plain)


def _directories(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _whole(fd: int, path: str) -> bytes:
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
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise Denied(f"it tried to write `{path}`, which is no regular file")
    if found.st_nlink > 1:
        raise Denied(f"it tried to write `{path}`, which is a hard link: the same file has another name elsewhere")


@contextmanager
def _faults(path: str) -> Iterator[None]:
    """From what the system says to what a module is told."""
    try:
        yield
    except UnsafePath as error:
        raise Denied(f"it tried to reach `{path}`: {error.message}") from None
    except FileNotFoundError:
        raise NotThere(f"`{path}` does not exist") from None
    except (OSError, SamuelError) as error:
        raise Failed(f"`{path}`: {error}") from None
