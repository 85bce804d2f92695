"""What every run did, attempt by attempt: one file of JSON lines per run, which outlives the run.

The files are in the user's state directory, where a sandboxed agent cannot write. A run begins with a line
`{"run": ...}`, each iteration adds a line `{"attempt": ...}`, and the run ends with `{"run": ...}` again. The last
line of a key counts, so a run that was killed may write the same line once more. A line that a kill cut short is
skipped, and the next one begins on a line of its own. Beside it is a file with the tasks as they were at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk, errors_naming
from samuel.files.inside import make_dirs_inside, open_inside, read_inside
from samuel.history.attempt_record import AttemptRecord, CheckRecord, RunRecord
from samuel.tasks.task import Task, Tasks

DIRECTORY = "history"
LAST = "last"
MOST_RUNS = 500
MOST_BYTES = 32 * 1024 * 1024
"""Of one run's file. A file that is half full gets short records, and a full one gets no more."""
SHORT_ID = len("run-") + 11
"""Characters of a run's id that hold the time it began, to the millisecond."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # it becomes a file's name
_ENDING = ".jsonl"
_TASKS_ENDING = ".tasks.json"
_TASK_FIELDS = ("id", "title", "status", "commit_sha", "grade", "questions")  # that a report shows


class HistoryLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a run's file."""

    run: RunRecord | None = None
    attempt: AttemptRecord | None = None


class RunHistory(NamedTuple):
    """One run and its attempts, in the order of their iterations."""

    run: RunRecord
    attempts: tuple[AttemptRecord, ...]


class _Room(NamedTuple):
    """How much of a record is saved."""

    tail: int  # bytes of the output of each check
    items: int  # checks, files, tests and denials
    text: int  # characters of any other text


_FULL = _Room(tail=4096, items=500, text=4096)
_SHORT = _Room(tail=256, items=20, text=500)


class History:
    """The runs of one state directory."""

    def __init__(self, directory: Path, disk: Disk = DISK) -> None:
        self._directory = directory
        self._disk = disk

    @classmethod
    def of(cls, state: Path, record: Path | None, disk: Disk = DISK) -> History:
        """The history of a state directory: in its record, or below it where there is no record."""
        return cls((record or state) / DIRECTORY, disk)

    def begin(self, run: RunRecord) -> None:
        """Save that a run began, and forget the oldest runs if there are too many."""
        self._append(run.run_id, HistoryLine(run=_shortened(run, _FULL)))
        for run_id in self.ids()[MOST_RUNS:]:
            for ending in (_ENDING, _TASKS_ENDING):
                (self._directory / f"{run_id}{ending}").unlink(missing_ok=True)

    def add(self, attempt: AttemptRecord) -> None:
        """Save an attempt. Idempotent: of two with the same iteration the last one counts."""
        room = _SHORT if self._size(attempt.run_id) > MOST_BYTES // 2 else _FULL
        self._append(attempt.run_id, HistoryLine(attempt=_shortened(attempt, room)))

    def end(self, run: RunRecord) -> None:
        """Save how a run ended."""
        self._append(run.run_id, HistoryLine(run=_shortened(run, _FULL)))

    def save_tasks(self, run_id: str, tasks: Tasks) -> None:
        """Save what a report shows of the tasks, as they are at the end of the run."""
        rows = [{name: value for name in _TASK_FIELDS if (value := getattr(task, name))} for task in tasks]
        for row, task in zip(rows, tasks, strict=True):
            row["last_failure"] = _text(task.last_failure, _FULL)
        directory = self._opened(run_id)
        try:
            atomic.write_at(
                directory, f"{run_id}{_TASKS_ENDING}", msgspec.json.encode(rows), durable=False, disk=self._disk
            )
        finally:
            os.close(directory)

    def tasks(self, run_id: str) -> list[Task] | None:
        """The tasks at the end of a run; None if they were not saved, as for a run that has not ended."""
        if not _ID.fullmatch(run_id):
            return None
        place = self._directory.parent, self._directory.name, f"{run_id}{_TASKS_ENDING}"
        with suppress(OSError, SamuelError, UnicodeDecodeError, msgspec.MsgspecError):
            return decode_json(read_inside(*place, limit=2 * MOST_BYTES), list[Task])
        return None

    def ids(self) -> list[str]:
        """The ids of all runs, the newest first."""
        with suppress(FileNotFoundError, NotADirectoryError):
            names = [name.removesuffix(_ENDING) for name in os.listdir(self._directory) if name.endswith(_ENDING)]
            began = {name: self._began(name) for name in names if _ID.fullmatch(name)}
            return sorted(began, key=lambda name: (began[name], name), reverse=True)
        return []

    def runs(self) -> list[RunRecord]:
        """Every run, the newest first; a file that cannot be read is left out."""
        return [history.run for history in self.all()]

    def all(self, most: int = MOST_RUNS) -> Iterator[RunHistory]:
        """The newest runs with their attempts, the newest first; a file that cannot be read is left out."""
        for run_id in self.ids()[:most]:
            with suppress(SamuelError):
                yield self.load(run_id)

    def load(self, run_id: str) -> RunHistory:
        """One run with its attempts. Raises SamuelError if there is no record of it."""
        run: RunRecord | None = None
        attempts: dict[int, AttemptRecord] = {}
        for line in self._lines(run_id):
            run = line.run or run
            if line.attempt is not None:
                attempts[line.attempt.iteration] = line.attempt
        if run is None:
            raise SamuelError(f"there is no record of run `{run_id}`", "`samuel run history` lists the runs")
        return RunHistory(run, tuple(attempts[iteration] for iteration in sorted(attempts)))

    def find(self, name: str = LAST) -> str:
        """The id of a run by the beginning of its id, with or without `run-`, or by `last`. Raises UsageError."""
        ids = self.ids()
        if not ids:
            raise UsageError("there has been no run yet", "`samuel run start` starts one")
        if name == LAST:
            return ids[0]
        if name in ids:
            return name
        matching = [run_id for run_id in ids if name and run_id.startswith((name, f"run-{name}"))]
        if len(matching) > 1:
            listed = ", ".join(f"`{run_id}`" for run_id in matching[:3])
            raise UsageError(f"`{name}` is the beginning of {len(matching)} runs: {listed}", "give more of the id")
        if not matching:
            hint = did_you_mean(name, [*ids, LAST], "`samuel run history` lists the runs")
            raise UsageError(f"there is no run `{name}`", hint)
        return matching[0]

    def _append(self, run_id: str, line: HistoryLine) -> None:
        os.close(self._opened(run_id))
        name = f"{run_id}{_ENDING}"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        fd = open_inside(self._directory.parent, self._directory.name, name, flags=flags)
        try:
            data = msgspec.json.encode(line) + b"\n"
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":  # a kill cut the last line short
                data = b"\n" + data
            if line.attempt is not None and size + len(data) > MOST_BYTES:
                return
            with errors_naming(self._directory / name):
                rest = memoryview(data)
                while rest:
                    rest = rest[self._disk.write(fd, rest) :]
        finally:
            os.close(fd)

    def _opened(self, run_id: str) -> int:
        """The directory of the history, made if need be. Raises SamuelError for an id that cannot name a file."""
        if not _ID.fullmatch(run_id):
            raise SamuelError(f"`{run_id}` is not the id of a run")
        self._directory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return make_dirs_inside(self._directory.parent, self._directory.name)

    def _lines(self, run_id: str) -> Iterator[HistoryLine]:
        for data in self._read(run_id):
            with suppress(UnicodeDecodeError, msgspec.MsgspecError):
                if data.strip():
                    yield decode_json(data, HistoryLine)

    def _read(self, run_id: str, most: int = 2 * MOST_BYTES) -> Iterator[bytes]:
        """The lines of a run's file that are within its first `most` bytes; none if there is no file."""
        if not _ID.fullmatch(run_id):
            return
        try:
            fd = open_inside(self._directory.parent, self._directory.name, f"{run_id}{_ENDING}", flags=os.O_RDONLY)
        except (FileNotFoundError, SamuelError):
            return
        with open(fd, "rb") as file:
            while most > 0 and (line := file.readline(most)):
                most -= len(line)
                yield line

    def _began(self, run_id: str) -> float:
        with suppress(UnicodeDecodeError, msgspec.MsgspecError, StopIteration):
            line = decode_json(next(self._read(run_id, 256 * 1024)), HistoryLine)
            return line.run.started_at if line.run else 0.0
        return 0.0

    def _size(self, run_id: str) -> int:
        try:
            return (self._directory / f"{run_id}{_ENDING}").stat().st_size
        except OSError:
            return 0


def history_file(run_id: str) -> str:
    """Where the file of a run is below the record."""
    return f"{DIRECTORY}/{run_id}{_ENDING}"


def shortest_prefix(run_id: str, ids: list[str]) -> str:
    """The beginning of an id that only this one of `ids` has, but not less than the time in it."""
    for length in range(SHORT_ID, len(run_id)):
        if not any(other != run_id and other.startswith(run_id[:length]) for other in ids):
            return run_id[:length]
    return run_id


def _shortened(value: Any, room: _Room) -> Any:
    """A record, or a part of it, with all texts and tuples within the room."""
    if isinstance(value, msgspec.Struct):
        fields = {name: _shortened(getattr(value, name), room) for name in value.__struct_fields__}
        if isinstance(value, CheckRecord):
            tail = _encodable(value.output_tail).encode()[-room.tail :].decode("utf-8", "ignore")
            fields["output_tail"] = tail
        if isinstance(value, AttemptRecord):  # it is whole, or its digest would be another one
            fields["predicate"] = value.predicate if room == _FULL else {}
        return replace(value, **fields)
    if isinstance(value, tuple):
        return tuple(_shortened(item, room) for item in value[: room.items])
    if isinstance(value, dict):
        return {_shortened(key, room): _shortened(item, room) for key, item in list(value.items())[: room.items]}
    return _text(value, room) if type(value) is str else value  # a member of an enum is a string, too


def _text(text: str, room: _Room) -> str:
    return _encodable(text if len(text) <= room.text else f"{text[: room.text - 1]}…")


def _encodable(text: str) -> str:
    """The text with an escape for each byte of a file name that is not UTF-8: JSON cannot hold it."""
    return text.encode("utf-8", "backslashreplace").decode()
