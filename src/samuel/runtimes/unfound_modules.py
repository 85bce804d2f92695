"""The modules that a worker looked for and did not find in a directory.

When such a module appears, a process of its own would import it. The worker would not: its `try: import rules` is
over, or it has found the module in a later directory of the path.
"""

from __future__ import annotations

import os
import sys
import time
from _imp import extension_suffixes
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_LIBRARY = os.path.dirname(os.__file__)
_LIBRARIES = (_LIBRARY, f"{_LIBRARY}/lib-dynload")
_SUFFIXES = (".py", ".pyc", *extension_suffixes())
# What is created in the same tick of the kernel's clock leaves the time of a directory as it was.
_SETTLED_NS = 1_000_000_000


class UnfoundModules:
    """A finder that comes last in `sys.meta_path`, so it is asked for what no other has found."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}  # by directory
        self._times: dict[str, tuple[int, ...]] = {}  # of directories that had none of their names then

    def find_spec(
        self, name: str, path: Iterable[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find nothing, and remember what was asked for."""
        if name not in sys.stdlib_module_names:  # the library itself asks for those of other systems
            for directory in sys.path if path is None else path:
                self._add(directory, {name.rpartition(".")[2]})
        return None

    def note_loaded(self, files: Mapping[str, str]) -> None:
        """Remember in which directories these modules were not: those before the one that has their file."""
        positions = {directory: position for position, directory in reversed([*enumerate(sys.path)])}
        found_at = {name: positions.get(_directory(name, file), 0) for name, file in files.items()}
        for position, directory in enumerate(sys.path):
            if directory not in _LIBRARIES and (names := {name for name, at in found_at.items() if at > position}):
                # What is there already was not on the path yet when the module was looked for.
                self._add(directory, names - _stems(directory))

    def appeared(self) -> bool:
        """Whether one of them is there now."""
        for directory, names in self._names.items():
            times = _times(directory)
            if times == self._times.get(directory):
                continue
            if any(_is_module(f"{directory}/{name}") for name in names & _stems(directory)):
                return True
            if not times or times[0] < time.time_ns() - _SETTLED_NS:
                self._times[directory] = times
        return False

    def _add(self, directory: str, names: set[str]) -> None:
        if directory not in _LIBRARIES and names:
            directory = os.path.abspath(directory)
            self._names.setdefault(directory, set()).update(names)
            self._times.pop(directory, None)


def _directory(name: str, file: str) -> str:
    """The directory in which a module was found, from its file."""
    directory = os.path.dirname(file)
    return os.path.dirname(directory) if os.path.basename(directory) == name else directory


def _times(directory: str) -> tuple[int, ...]:
    try:
        status = os.stat(directory)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _stems(directory: str) -> set[str]:
    try:
        return {entry.partition(".")[0] for entry in os.listdir(directory)}
    except OSError:
        return set()


def _is_module(path: str) -> bool:
    return os.path.isdir(path) or any(os.path.isfile(path + suffix) for suffix in _SUFFIXES)
