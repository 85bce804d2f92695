"""What a run knows of itself, on disk: enough to go on after being killed at any instruction.

`run.json` changes in one atomic write at a time. What an iteration decides about its task is written here first,
as the thing that is about to be done, then into the task file, then struck here. A run that finds it undone does
it again: the same words give the same task file.

An agent can write `run.json`. So each change is written to a record in the user's state directory first, where a
sandboxed agent cannot write, and a run that is resumed believes the record alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.decoding import decode_json
from samuel.errors import ConfigError, Problem, SamuelError
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.inside import read_inside

FILE = "run.json"
LIMIT = 64 * 1024 * 1024


class Settlement(msgspec.Struct, frozen=True):
    """What an iteration came to: the outcome, and the fields of the task's row that change with it."""

    outcome: str
    failed: bool
    task_id: str = ""
    row: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    commit: list[str] | None = None  # the paths to commit, if the task is to have a commit
    new_tasks: int = 0  # for a discovery


class Run(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    methodology: str
    agent: str
    started_at: float
    max_iterations: int
    iteration: int = 0  # the one under way, or the last
    working: bool = False  # the iteration is not settled
    mode: str = "implementation"
    iterations_run: int = 0
    consec_fails: int = 0
    empty_discoveries: int = 0
    outcomes: dict[str, int] = {}
    usage: dict[str, Any] = {}
    plugins: dict[str, Any] = {}  # what before:loop's handlers contributed, for the whole run
    dirty: list[str] = []  # what was changed in the work tree before the run: never committed by it
    pinned: dict[str, Any] = {}  # configuration and chains as they were when it started
    settlement: Settlement | None = None  # decided, maybe not yet in the task file
    unannounced: Settlement | None = None  # in the task file, maybe not yet told to after:iteration
    exit_reason: str = ""
    exit_message: str = ""  # what a handler or a fault that ended the run had to say
    complaints: list[str] = []  # of strict handlers that could stop nothing any more: the exit code is 1

    @property
    def over(self) -> bool:
        return bool(self.exit_reason)

    @property
    def session_id(self) -> str:
        """Each agent process is a session."""
        return f"{self.run_id}-{self.iteration}"

    def begin(self, iteration: int) -> Run:
        return replace(self, iteration=iteration, working=True, mode="implementation")  # until its gate says more

    def complain(self, event: str, reason: str) -> Run:
        complaint = f"{event}: {reason}"
        return self if complaint in self.complaints else replace(self, complaints=[*self.complaints, complaint])

    def _empty(self, done: Settlement) -> int:
        """How many discoveries in a row found nothing. One that failed says nothing about that."""
        if self.mode != "discovery" or done.failed:
            return self.empty_discoveries
        return 0 if done.new_tasks else self.empty_discoveries + 1

    def settled(self) -> Run:
        """With the settlement in the task file: counted, once."""
        assert self.settlement is not None
        done = self.settlement
        return replace(
            self,
            working=False,
            settlement=None,
            unannounced=done,
            iterations_run=self.iterations_run + 1,
            consec_fails=self.consec_fails + 1 if done.failed else 0,
            empty_discoveries=self._empty(done),
            outcomes={**self.outcomes, done.outcome: self.outcomes.get(done.outcome, 0) + 1},
            usage=add_usage(self.usage, done.usage),
        )


class Resumable(NamedTuple):
    """What a start finds of the last run."""

    run: Run | None
    notes: tuple[str, ...] = ()
    """What did not fit together, and what was done about it."""


class RunFile:
    """`run.json` of a state directory, and the record of it in the user's state; None keeps no record."""

    def __init__(self, directory: Path, record: Path | None = None, disk: Disk = DISK) -> None:
        self._file = directory / FILE
        self._record = record / FILE if record else None
        self._disk = disk
        self.last: Run | None = None  # what was saved here last
        self.problem = ""  # why that is not in the record

    def load(self) -> Run | None:
        """The last run, by its record, or as `run.json` has it where there is none."""
        return self._recorded() or self._written()

    def resumable(self) -> Resumable:
        """The last run as far as its record vouches for it."""
        recorded = self._recorded()
        if recorded is None:
            return self._without_record(self._written())
        try:
            written = self._written()
        except ConfigError:
            written = None
        if not recorded.over and not _may_be_older(written, recorded):
            what = f"`{self._file.name}` is not what run {recorded.run_id} wrote; its own record counts"
            return Resumable(recorded, (what,))
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
        self.last = run
        return run

    def forget(self) -> None:
        if self._record is not None:
            self._record.unlink(missing_ok=True)
        self._file.unlink(missing_ok=True)

    def _without_record(self, written: Run | None) -> Resumable:
        """Nothing vouches for the file: a run that it calls unfinished is not resumed, and decides nothing."""
        if written is None or (written.over and written.settlement is None and written.unannounced is None):
            return Resumable(written)
        decided = ", nor is what it decided about its task" if written.settlement is not None else ""
        what = (
            f"run {written.run_id} has no record in the user's state directory, so it is not resumed{decided}; "
            "its tasks in progress are pending again"
        )
        ended = replace(written, settlement=None, unannounced=None, exit_reason=written.exit_reason or "error")
        return Resumable(ended, (what,))

    def _recorded(self) -> Run | None:
        if self._record is None:
            return None
        try:
            return decode_json(self._record.read_bytes(), Run)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return None

    def _written(self) -> Run | None:
        try:
            data = read_inside(self._file.parent, FILE, limit=LIMIT)
            return decode_json(data, Run)
        except FileNotFoundError:
            return None
        except (OSError, SamuelError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            hint = "move it away; the tasks are in prd.toon and stay as they are"
            raise ConfigError([Problem(f"cannot be read: {error}", str(self._file), 0, hint)]) from None


def _may_be_older(written: Run | None, recorded: Run) -> bool:
    """Whether `run.json` is the record, or what the run wrote before it was killed between the two."""
    return (
        written is not None
        and written.run_id == recorded.run_id
        and not written.over
        and written.iterations_run in (recorded.iterations_run, recorded.iterations_run - 1)
        and written.settlement in (None, recorded.settlement, recorded.unannounced)
    )


def add_usage(total: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and cost add up; anything else takes the last."""
    summed = dict(total)
    for key, value in more.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        summed[key] = summed.get(key, 0) + value if number else value
    return summed
