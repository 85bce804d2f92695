"""The source of the tasks during a run: completed tasks are marked there, and marks of an agent count as nothing.

A mark is written when a settlement is carried out, before its commit, so that the ticked box is in the commit of
its task. A run that was killed in between writes it again when it resumes. In a run with lanes it is not committed
(`workspaces/lanes/person_marks.py`): it would make another tree of the commit than the checks passed on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from samuel.attempt.run_files import private_directory
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import listed
from samuel.git.trees import Trees
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.origin import MOST_NAMED, OriginFile, Origins, TaskOrigin
from samuel.tasks.write_back import only_marks, write_back


class SourceMarks:
    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._file = OriginFile(private_directory(place), place.disk)

    def write(self, *tasks: str) -> tuple[str, ...]:
        """Mark these tasks as done in their source; the paths below the root that hold their marks."""
        try:
            result = write_back(self._file, self._place.root, tasks, self._place.disk)
        except OSError as error:  # of the record: a disk that is full, say
            named = listed([f"`{task}`" for task in tasks], MOST_NAMED)
            self._place.warn(f"{named} is not marked in its source: {error.strerror}")
            return ()
        for problem in result.problems:
            self._place.warn(problem)
        return tuple(path for path in map(self._below_root, result.files) if path)

    def files_of(self, task_id: str) -> set[str]:
        """The paths below the root in which this task is marked as done."""
        return {path for path, origin in self.origins() if path and task_id in origin.items}

    def origins(self) -> list[tuple[str, TaskOrigin]]:
        """The sources that are written to, each with its path below the root; "" for one that is elsewhere."""
        origins = (origin for origin in self._file.load().origins if origin.write_back)
        return [(self._below_root(file), origin) for origin in origins for file in origin.files]

    def only_marked(self, paths: Iterable[str], trees: Trees | None, verified: str) -> set[str]:
        """Those of the changed paths in which nothing but the status of tasks differs from the verified tree."""
        sources = {self._below_root(file): origin for origin in self._file.load().origins for file in origin.files}
        return {
            path
            for path in paths
            if path in sources and self._is_only_marked(sources[path], path, trees, verified)
        }

    def _is_only_marked(self, origin: TaskOrigin, path: str, trees: Trees | None, verified: str) -> bool:
        if trees is None or not verified:
            return True  # without git its earlier content is not known
        before, file = trees.content(verified, path), self._place.root / path
        try:
            return before is not None and only_marks(origin, file, before, TaskSource.of_file(file).data)
        except SamuelError:  # it is gone, or a pipe
            return False

    def _below_root(self, file: str) -> str:
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(self._place.root))
        return "" if path.startswith("..") else path

    def tell_lane(self, lane: Workplace) -> None:
        """Let a lane know the sources, as files of its own, so that marks of its agent count as nothing there.

        Nothing is written back from a lane.
        """
        origins, file = self._file.load(), OriginFile(private_directory(lane), lane.disk)
        own = Origins(tuple(self._in_lane(origin, lane.root) for origin in origins.origins))
        if own != file.load():
            file.save(own)

    def _in_lane(self, origin: TaskOrigin, root: Path) -> TaskOrigin:
        files = tuple(str(root / path) for path in map(self._below_root, origin.files) if path)
        return replace(origin, files=files, write_back=False)
