"""`run.json` and its record: the state of a run on disk, and which of the two is believed after a kill.

An agent can write `run.json`. So each change is written to a record in the user's state directory first, where a
sandboxed agent cannot write, and a run is resumed from the record alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.events.endings import ExitReason
from samuel.events.explain import explained
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.explained import reason
from samuel.files.inside import read_inside
from samuel.files.lock import held
from samuel.files.regular import read_regular
from samuel.history.run import Run

FILE = "run.json"
RUN_LOCK = "run.lock"
LIMIT = 64 * 1024 * 1024


class Resumable(NamedTuple):
    """The last run of a state directory, as the next start finds it."""

    run: Run | None
    notes: tuple[str, ...] = ()
    """Where run.json and the record disagree, and what was done about it."""


class RunFile:
    """`run.json` of a state directory, and its record in the user's state directory; None keeps no record."""

    def __init__(self, directory: Path, record: Path | None = None, disk: Disk = DISK) -> None:
        self._file = directory / FILE
        self._record = record / FILE if record else None
        self._disk = disk
        self.problem = ""  # why the last save is not in the record

    def load(self) -> Run | None:
        """The last run: from its record, or from `run.json` where there is no record."""
        return self._load_record() or self._load_file()

    def resumable(self) -> Resumable:
        """The last run, as far as its record confirms it."""
        recorded = self._load_record()
        if recorded is None:
            return self._without_record(self._load_file())
        try:
            in_file = self._load_file()
        except ConfigError:
            in_file = None
        if not recorded.over and not _may_be_older(in_file, recorded):
            note = f"`{self._file.name}` is not what run {recorded.run_id} wrote; its record is used instead"
            return Resumable(recorded, (note,))
        return Resumable(recorded)

    def save(self, run: Run) -> Run:
        # Not flushed to the platters: a power cut may forget that an iteration was counted, never a task, and this
        # is written several times an iteration.
        data = msgspec.json.encode(run)
        if self._record is not None:
            try:
                self._record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                atomic.write_bytes(self._record, data, 0o600, durable=False, disk=self._disk)
            except OSError as error:  # a home that is read-only, say
                self.problem = f"cannot write `{self._record}`: {error.strerror}"
        atomic.write_bytes(self._file, data, durable=False, disk=self._disk)
        return run

    def forget(self) -> None:
        if self._record is not None:
            self._record.unlink(missing_ok=True)
        self._file.unlink(missing_ok=True)

    def _without_record(self, in_file: Run | None) -> Resumable:
        """Nothing confirms the file, so a run that it calls unfinished is not resumed and decides nothing."""
        if in_file is None or (in_file.over and not in_file.decided and not in_file.unannounced):
            return Resumable(in_file)
        decision = ", and what it decided about its task is dropped" if in_file.decided else ""
        note = (
            f"run {in_file.run_id} has no record in the user's state directory, so it is not resumed{decision}; "
            "its tasks in progress are pending again"
        )
        exit_reason = in_file.exit_reason or ExitReason.ERROR
        ended = replace(in_file, active={}, unannounced=(), exit_reason=exit_reason)
        return Resumable(ended, (note,))

    def _load_record(self) -> Run | None:
        if self._record is None:
            return None
        try:
            return decode_json(read_regular(self._record), Run)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return None

    def _load_file(self) -> Run | None:
        try:
            data = read_inside(self._file.parent, FILE, limit=LIMIT)
            return decode_json(data, Run)
        except FileNotFoundError:
            return None
        except (OSError, SamuelError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            hint = "move it away; the tasks are in prd.toon and stay as they are"
            why = reason(error) if isinstance(error, OSError) else explained(error, Run)
            raise ConfigError([Problem(f"cannot be read: {why}", str(self._file), 0, hint)]) from None


def _may_be_older(in_file: Run | None, recorded: Run) -> bool:
    """Whether `run.json` is the record, or what the run wrote before it was killed between the two writes."""
    if in_file is None or in_file.run_id != recorded.run_id or in_file.over:
        return False
    settlements = [record.result.settlement for record in recorded.decided if record.result]
    settlements += [announcement.settlement for announcement in recorded.unannounced]
    counted = recorded.iterations_run - in_file.iterations_run
    return 0 <= counted <= max(1, len(recorded.unannounced)) and all(
        record.result.settlement in settlements
        for record in in_file.decided
        if record.result and not record.result.work  # what lands may be refused after all
    )


@contextmanager
def no_run(state: Path, record: Path | None, note: str) -> Iterator[None]:
    """Let no run begin meanwhile. Raises Locked while one is under way.

    `state` and `record` are the directories in which a run holds a lock; `note` says who has it now.
    """
    with ExitStack() as locks:
        for directory in (state, record):
            if directory is not None and directory.is_dir():
                locks.enter_context(held(directory / RUN_LOCK, note=note))
        yield
