"""What the checks said before the first agent, and on the last verified tree: later runs are compared with it.

It is in the user's state directory, where a sandboxed agent cannot write, and not in run.json: the names of all
tests can be long, and run.json is written several times an iteration.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.regular import read_regular

FILE = "checks.json"
MOST_KEPT_RUNS = 40


class RememberedChecks(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    baseline: tuple[CheckRun, ...] = ()
    verified: tuple[CheckRun, ...] | None = None  # None while no task is completed
    ignored: tuple[str, ...] = ()  # the paths that git ignored before the first agent


RunKey = tuple[Corner, str, str, str]
"""A corner, its tree, a command, and the line for a part of it or ""."""


class CheckMemory:
    """The remembered checks of one run."""

    def __init__(self, directory: Path | None, run_id: str, disk: Disk = DISK) -> None:
        """Without a directory, only this process remembers."""
        self._file = directory / FILE if directory else None
        self._disk = disk
        self._remembered = self._load(run_id)
        self._earlier_runs: dict[RunKey, CheckRun] = {}  # of this process; the next one runs them again

    @classmethod
    def of(cls, remembered: RememberedChecks) -> CheckMemory:
        """What another machine remembers."""
        memory = cls(None, remembered.run_id)
        memory._remembered = remembered
        return memory

    @property
    def remembered(self) -> RememberedChecks:
        return self._remembered

    @property
    def baseline(self) -> tuple[CheckRun, ...]:
        return self._remembered.baseline

    @property
    def verified(self) -> tuple[CheckRun, ...] | None:
        return self._remembered.verified

    @property
    def ignored(self) -> tuple[str, ...]:
        return self._remembered.ignored

    def set_baseline(self, runs: tuple[CheckRun, ...], ignored: tuple[str, ...] = ()) -> None:
        self._save(replace(self._remembered, baseline=runs, ignored=ignored))

    def set_verified(self, runs: tuple[CheckRun, ...]) -> None:
        self._save(replace(self._remembered, verified=runs))

    def forget_verified(self) -> None:
        """Compare with the baseline again: the work of a completed task was taken back, with its tests."""
        self._save(replace(self._remembered, verified=None))

    def in_lane(self, ignored: tuple[str, ...]) -> CheckMemory:
        """The same for an attempt in a lane, which has ignored files of its own; what it sets stays there."""
        memory = CheckMemory(None, self._remembered.run_id)
        memory._remembered = replace(self._remembered, ignored=ignored)
        memory._earlier_runs = self._earlier_runs
        return memory

    def earlier_run(self, key: RunKey) -> CheckRun | None:
        """What a command said on the same tree for an earlier attempt, which was claimed again as it was."""
        return self._earlier_runs.get(key)

    def keep_run(self, key: RunKey, run: CheckRun) -> None:
        self._earlier_runs[key] = run
        for oldest in list(self._earlier_runs)[:-MOST_KEPT_RUNS]:
            self._earlier_runs.pop(oldest, None)

    def _load(self, run_id: str) -> RememberedChecks:
        if self._file is None:
            return RememberedChecks(run_id=run_id)
        try:
            remembered = decode_json(read_regular(self._file), RememberedChecks)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return RememberedChecks(run_id=run_id)
        return remembered if remembered.run_id == run_id else RememberedChecks(run_id=run_id)

    def _save(self, remembered: RememberedChecks) -> None:
        self._remembered = remembered
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_bytes(self._file, msgspec.json.encode(remembered), 0o600, durable=False, disk=self._disk)
        except OSError:  # a home that is read-only: this process remembers, the next one checks again
            return
