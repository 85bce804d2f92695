"""The report files of one run of a check: those that its runners were asked for, and those of the project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.evidence.reports.bounded_xml import MAX_BYTES
from samuel.evidence.reports.formats import read_report_file
from samuel.evidence.reports.request import ReportRequest
from samuel.evidence.reports.suite import SuiteReport
from samuel.files.inside import make_dirs_inside, read_inside

MAX_FILES = 5000
MAX_ENTRIES = 200_000  # names that are looked at for reports
MAX_TOTAL = 256 << 20  # bytes of all reports
_LEFT_OUT = frozenset((".git", "node_modules", ".venv", "venv"))
_Signature = tuple[int, int, int]


class WrittenReports:
    """Prepared before a run and read after it. Reports of an earlier run do not count.

    `root` is the directory that the check runs in, and `destination` the one that `report_request` was given.
    """

    def __init__(self, root: Path, destination: Path, request: ReportRequest) -> None:
        self._root = root
        self._destination = destination
        self._request = request
        self._before: dict[str, _Signature | None] = {}

    def prepare(self) -> bool:
        """Remove reports of an earlier run and note those of the project; False if that is impossible."""
        self._before = {path: self._signature(path) for path in self._own_paths()}
        try:
            directory = make_dirs_inside(self._destination.parent, self._destination.name, mode=0o755)
        except (OSError, SamuelError):
            return False
        try:
            for name in self._request.asked_for:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=directory)
        except OSError:  # somebody made a directory of it
            return False
        finally:
            os.close(directory)
        return True

    def read(self) -> list[SuiteReport]:
        """The reports that were written since."""
        reports = []
        total = 0
        for root, path in self._new_files():
            try:
                content = read_inside(root, path, limit=MAX_BYTES)
            except (OSError, SamuelError, ValueError):
                continue
            total += len(content)
            if total > MAX_TOTAL:
                break
            if (report := read_report_file(content, str(self._root))) is not None:
                reports.append(report)
        return reports

    def _new_files(self) -> Iterator[tuple[Path, str]]:
        for name in self._request.asked_for:
            yield self._destination, name
        for path in self._own_paths():
            signature = self._signature(path)
            if signature is not None and signature != self._before.get(path):
                yield (Path("/"), path.lstrip("/")) if path.startswith("/") else (self._root, path)

    def _own_paths(self) -> list[str]:
        paths = (*self._request.own, *matching_files(self._root, self._request.own_patterns))
        return list(dict.fromkeys(paths))[:MAX_FILES]

    def _signature(self, path: str) -> _Signature | None:
        try:
            status = os.lstat(self._root / path)
        except (OSError, ValueError):
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def matching_files(root: Path, patterns: Sequence[str]) -> list[str]:
    """The files below `root` that match a pattern with `**`, by their paths, sorted; links are not followed."""
    if not patterns:
        return []
    paths: list[str] = []
    entries = 0
    for directory, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name not in _LEFT_OUT]
        entries += len(directories) + len(files)
        if entries > MAX_ENTRIES or len(paths) > MAX_FILES:
            break
        below = os.path.relpath(directory, root)
        paths += [
            path
            for name in files
            if any(_matches(path := os.path.normpath(os.path.join(below, name)), pattern) for pattern in patterns)
        ]
    return sorted(paths)[:MAX_FILES]


def _matches(path: str, pattern: str) -> bool:
    """Whether a path matches: the last part by its wildcard, the directories in the order of the pattern."""
    *directories, name = pattern.split("/")
    *parents, last = path.split("/")
    if not fnmatchcase(last, name):
        return False
    position = 0
    for directory in directories:
        if directory == "**":
            continue
        if directory not in parents[position:]:
            return False
        position = parents.index(directory, position) + 1
    return True
