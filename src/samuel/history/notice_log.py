"""What a run reports while it works, as a file: other processes see from it what happens now.

The file is in the record of the run, where a sandboxed agent cannot write. It is no state: nothing decides by it,
a view without it lacks what the agents do at this moment, and it never grows past two files of a few megabytes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import json_decoder
from samuel.base.errors import SamuelError
from samuel.history import notices
from samuel.history.notice_data import kinds, notice_data, notice_of
from samuel.history.notices import LaneReport, Report, Watch

FILE = "notices.jsonl"
MOST_BYTES = 4 * 1024 * 1024

KINDS = kinds(
    notices.IterationStarted,
    notices.DiscoveryChosen,
    notices.StepStarted,
    notices.AgentActivity,
    notices.AgentEnded,
    notices.CheckStarted,
    notices.CheckEnded,
    notices.ReviewStarted,
    notices.ReviewEnded,
    notices.IterationFailed,
    notices.AcceptanceWritten,
    notices.WaitStarted,
    notices.AgentChanged,
    notices.HandlerMessage,
    notices.LoopWarning,
    notices.TaskFileUnreadable,
    notices.LandingStarted,
    notices.WorkLanded,
    notices.LandingParked,
)
"""What a view of the moment needs. What an agent prints is in its log, and results are in the history."""


class NoticeLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the file."""

    at: float
    run: str
    kind: str
    report: dict[str, Any]
    lane: int | None = None


_decode = json_decoder(NoticeLine)


class NoticeLog:
    """A `Watch` that passes reports on, and writes those of a run to the file."""

    def __init__(self, directory: Path | None, watch: Watch, now: Callable[[], float]) -> None:
        """Nothing is written without a directory."""
        self._directory = directory
        self._watch = watch
        self._now = now
        self._run = ""
        self._fd = -1
        self._size = 0
        self._lock = threading.Lock()  # lanes report from threads of their own

    def __call__(self, report: Report) -> None:
        self._watch(report)
        lane, inner = (report.lane, report.report) if isinstance(report, LaneReport) else (None, report)
        with self._lock:
            if isinstance(report, notices.RunStarted) and report.run_id:
                self._begin(report.run_id)
            elif isinstance(report, notices.RunEnded):
                self._close()
            elif self._fd >= 0 and type(inner).__name__ in KINDS:
                self._append(lane, inner)

    def _begin(self, run_id: str) -> None:
        """Start the file over for a run; that of the run before is of no use any more."""
        self._run = run_id
        self._close()
        with suppress(OSError):  # a view without it knows less
            self._open()

    def _open(self) -> None:
        if self._directory is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._directory / FILE
        with suppress(FileNotFoundError):
            os.replace(path, path.with_suffix(".old"))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd, self._size = os.open(path, flags, 0o600), 0

    def _append(self, lane: int | None, report: Report) -> None:
        kind, data = notice_data(report)
        line = msgspec.json.encode(NoticeLine(self._now(), self._run, kind, data, lane)) + b"\n"
        try:
            os.write(self._fd, line)
            self._size += len(line)
            if self._size > MOST_BYTES:
                self._close()
                self._open()
        except OSError:  # the disk is full: a view says less, and the run goes on
            self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def notice_in(line: bytes) -> tuple[NoticeLine, Report] | None:
    """What a line of the file says; None for a line that is torn, or of another version of Samuel."""
    try:
        decoded = _decode(line)
        report = notice_of(decoded.kind, decoded.report, KINDS)
    except (msgspec.MsgspecError, SamuelError, UnicodeDecodeError, RecursionError):
        return None
    return decoded, LaneReport(decoded.lane, report) if decoded.lane is not None else report
