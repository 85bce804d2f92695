"""What checks need and git does not have: `.venv`, `node_modules`, `.env`, ... as no agent can have prepared it.

It is copied once, while no agent has worked, to a directory of Samuel's own; or a command of samuel.toml makes it
in the room (`prepare`), from the files of the tree that is shown. The room gets a copy of that copy. A change that
a check makes to it is noticed and undone before the next check. What checks compile from the verified tree, before
the first agent, is kept with it: no later run has to.

A virtual environment of Python has its own path in its programs and in the files that lead to a project installed
for editing: in the copy these lead to the room.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from samuel.base.errors import SamuelError
from samuel.base.paths import HOME
from samuel.base.printable import file_name, listed
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.room_files import RoomFiles
from samuel.evidence.surroundings.copies import CACHES, remove, size_of
from samuel.evidence.surroundings.inputs import digest_of, inputs_of
from samuel.evidence.surroundings.kept_copy import KeptCopy
from samuel.evidence.surroundings.own_environment import OwnEnvironment

LIMIT = 4 << 30
"""Bytes that are copied at most. Of more, the room gets hard links, which are watched."""

# What is built from the source: made in the room, from the tree that is shown there.
BUILT = frozenset(("target", "build", "dist", "out", "obj", ".next", ".nuxt", ".svelte-kit", "_build", "bin"))
# What a package manager makes: not taken where `prepare` does.
_INSTALLED = frozenset((".venv", "venv", "node_modules", "__pypackages__", "bower_components", ".bundle"))
_MOST_PREPARED = 3  # environments of different inputs
_MOST_NAMED = 5


class EnvironmentTooLarge(SamuelError):
    """What git ignores in the project is more than is copied."""


class PrepareFailed(RoomFailed):
    """The command that makes the environment failed, so no check could run."""


class Preparation(Protocol):
    """The command that makes what checks need."""

    @property
    def command(self) -> str:
        """The command line; "" for none."""

    def run(self, directory: Path) -> None:
        """Run it there. Raises PrepareFailed."""


class TakenEnvironment(NamedTuple):
    """How the environment was made ready before the first agent."""

    how: str
    """In words, for the report; "" where nothing was needed."""
    left_by_agents: tuple[str, ...] = ()
    """Files that agents of an earlier run changed: the checks use the environment of before."""


def needed(ignored: Iterable[str]) -> list[str]:
    """Those of the paths that git ignores which a check may need: neither caches nor what is built."""
    paths = (path.rstrip("/") for path in ignored)
    left_out = CACHES | BUILT | {"__pycache__", HOME}
    return [path for path in paths if not {*path.split("/")} & left_out and not path.endswith((".pyc", ".log"))]


class PreparedEnvironment:
    """The paths of one project's environment; what is kept of it is in `directory`."""

    def __init__(self, source: Path, directory: Path, room: Path, preparation: Preparation | None = None) -> None:
        """`source` is the top of the work tree, and `room` that of the clean room."""
        self._source = source
        self._room = room
        self._directory = directory
        self._taken = KeptCopy(directory / "environment", room)
        self._own = OwnEnvironment(source, directory / "environment.own")
        self._preparation = preparation if preparation and preparation.command else None
        self._prepared: KeptCopy | None = None  # the one that is in the room
        self._key = ""
        self._verified_inputs: dict[str, str] = {}
        self._paths: frozenset[str] = frozenset(self._taken.paths)

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self._taken.paths, *(self._prepared.paths if self._prepared else ()))

    def take(self, paths: Sequence[str], *, as_it_is: bool = False) -> TakenEnvironment:
        """Copy these paths of the work tree, before an agent changes them. Raises EnvironmentTooLarge.

        What agents of an earlier run left there is not taken, unless a person wants it `as_it_is`.
        """
        present = [path for path in paths if os.path.lexists(self._source / path) and not self._is_prepared(path)]
        changed = {} if as_it_is else self._own.changed_by_agents()
        reused = [path for path in present if path in changed and path in self._taken.paths]
        surveys = self._own.survey(path for path in present if path not in reused)
        size = sum(map(size_of, surveys.values()))
        try:
            self._taken.take(self._source, surveys, linked=size > LIMIT, reused=reused)
        except RoomFailed:
            raise
        except SamuelError as error:
            if size <= LIMIT:
                raise
            named = listed([f"`{file_name(path)}`" for path in surveys], _MOST_NAMED)
            raise EnvironmentTooLarge(
                f"what git ignores and the checks may need has {size >> 20} MiB, and hard links to it are not "
                f"possible: {named} ({error.message})",
                'set `evidence = "in place"`, or `prepare` to a command that makes what the checks need',
            ) from None
        self._own.taken(surveys, reused)
        self._note_paths()
        files = tuple(os.path.join(path, name) if name else path for path in reused for name in changed[path])
        return TakenEnvironment(self._described(size), files)

    def _is_prepared(self, path: str) -> bool:
        """Whether `prepare` makes it."""
        return self._preparation is not None and (
            path.rpartition("/")[2] in _INSTALLED or (self._source / path / "pyvenv.cfg").is_file()
        )

    def _described(self, size: int) -> str:
        named = listed([f"`{file_name(path)}`" for path in self._taken.paths], _MOST_NAMED)
        how = "hard links, watched" if self._taken.is_linked else "a copy"
        by_command = f"made by `{self._preparation.command}`" if self._preparation else ""
        taken = f"{how} of {named} ({max(1, size >> 20)} MiB)" if named else ""
        return "; ".join(text for text in (by_command, taken) if text)

    def look(self) -> list[str]:
        """The files of the environment in the work tree that changed since the last look."""
        return self._own.look()

    def keep_built(self, built: Iterable[str]) -> None:
        """Keep what checks of the verified tree made in the room: `built`, and what they compiled elsewhere."""
        if self._prepared is not None:
            self._prepared.keep(built)
            self._taken.keep(())
        else:
            self._taken.keep(built)
        self._note_paths()

    def is_kept(self, path: str) -> bool | None:
        """Whether this path of the room belongs to the environment; None if something below it does."""
        if not self._paths:
            return False
        if path in self._paths:
            return True
        end = path.find("/")
        while end > 0:
            if path[:end] in self._paths:
                return True
            end = path.find("/", end + 1)
        return None if any(own.startswith(f"{path}/") for own in self._paths) else False

    def lay_out(
        self, files: RoomFiles, root: Path, write: Callable[[], None], *, is_verified: bool = False
    ) -> None:
        """Make the environment in the room what it must be for the tree there; `write` writes that tree again.

        `is_verified` says that no agent has worked on that tree since it was verified. Raises RoomFailed.
        """
        if self._preparation is None:
            self._taken.lay_out()
            return
        inputs = inputs_of(self._preparation.command, files.entries)
        key = digest_of(self._preparation.command, inputs)
        if key != self._key:
            if self._prepared is not None:
                self._prepared.withdraw()
            self._prepared, self._key = KeptCopy(self._directory / "prepared" / key, self._room), key
            self._note_paths()
        assert self._prepared is not None
        self._taken.lay_out()
        if self._prepared.is_there:
            self._prepared.lay_out()
        else:
            self._prune()
            try:
                self._preparation.run(root)
            except PrepareFailed as error:
                self._prepared, self._key = None, ""
                self._note_paths()
                raise self._explained(error, inputs) from None
            left_out = CACHES | {"__pycache__"} | (frozenset() if is_verified else BUILT)
            self._prepared.keep([*files.others(lambda path: path.rpartition("/")[2] in left_out)])
            self._note_paths()
            write()
        if is_verified:
            self._verified_inputs = inputs

    def _explained(self, error: PrepareFailed, inputs: dict[str, str]) -> PrepareFailed:
        """The error with the files that the attempt changed, if it was not like that before."""
        before = self._verified_inputs or inputs
        changed = sorted(path for path in {*before, *inputs} if before.get(path) != inputs.get(path))
        if not changed:
            return error
        named = listed([f"`{file_name(path)}`" for path in changed], _MOST_NAMED)
        return PrepareFailed(f"the attempt changed {named}, and then {error.message}", error.hint)

    def _prune(self) -> None:
        """Forget the environments that were made longest ago."""
        directory = self._directory / "prepared"
        records = sorted(directory.glob("*.survey"), key=lambda file: file.stat().st_mtime)
        for file in records[: max(0, len(records) - _MOST_PREPARED + 1)]:
            file.unlink(missing_ok=True)
            remove(file.with_suffix(""))

    def _note_paths(self) -> None:
        self._paths = frozenset(self.paths)
