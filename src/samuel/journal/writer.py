"""Writes the journal: append-only lines, readable at any time, from any number of processes at once.

All processes append to the newest segment, each time with one write, which the kernel does not mix with another's.
A process that is killed during a write leaves a torn line; the next process that opens the segment ends it with a
newline. A journal that cannot be written is one warning; the events go on, and later ones are tried again.

An event takes two writes. Its own record is written before its handlers run: whatever a handler does to this
process, the journal has the event that it was called for. The calls and the end are written together.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from samuel.base.clock import Clock, iso
from samuel.base.errors import SamuelError
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import Event, LoopEvent
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.inside import make_dirs_inside
from samuel.hooks.handler import Origin
from samuel.journal import redact
from samuel.journal.records import CallRecord, EndRecord, EventRecord, would_record

SEGMENT_BYTES = 8 * 1024 * 1024
TOTAL_BYTES = 64 * 1024 * 1024
# A journal that could not be written, as on a full disk, is tried again after so long.
RETRY_AFTER_SECONDS = 5.0
# A slow call is written as soon as it ended, and so is one in the background, whose event may be over. Quick ones
# are written with the end of their event, in one write.
FLUSH_AFTER_SECONDS = 0.05
# Whether the segment is full is not checked at every write: the check costs as much as a write.
CHECK_AFTER_SECONDS = 0.05

NOT_ENCODABLE = (RecursionError, TypeError, ValueError, OverflowError, msgspec.MsgspecError)
# O_NONBLOCK: opening a pipe that has the name of a segment must not block.
APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# By the value of an origin: the hash of a member, which a dict needs, costs more than the rest of a record.
LABELS = tuple(origin.label for origin in sorted(Origin))
assert [*Origin] == [*range(len(Origin))]

_LAST_NUMBER = 99_999_999


class Journal:
    """The sink that writes all events, calls and outcomes."""

    def __init__(
        self,
        root: Path,
        journal_dir: Path,
        clock: Clock,
        warn: Callable[[str], None],
        parent_id: str = "",
        segment_bytes: int = SEGMENT_BYTES,
        total_bytes: int = TOTAL_BYTES,
    ) -> None:
        self._root = root
        self._directory = journal_dir
        self._parts = journal_dir.relative_to(root).parts
        self._now = clock.now
        self._monotonic = clock.monotonic
        self._warn = warn
        self._parent_id = parent_id
        self._segment_bytes = segment_bytes
        self._check_after_bytes = segment_bytes // 100
        self._total_bytes = total_bytes
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._flushed = 0.0
        self._checked = 0.0  # when the segment's size was last checked
        self._unchecked_bytes = 0  # written by this process since then
        self._fd = -1
        self._segment = ""  # the path of the open file
        self._failed_at: float | None = None  # when it could not be written
        self._has_warned = False
        self._encode = msgspec.json.Encoder().encode
        self._last_context: tuple[Any, str] = (None, "")

    def begin(self, event: Event) -> None:
        self._write(self._line(self._event_record, event))

    def _event_record(self, event: Event) -> EventRecord:
        redactions = redact.fields(event)
        context = ""
        if isinstance(event, LoopEvent) and event.context:
            context = self._digest(event.context)
            redactions["context"] = {}
        return EventRecord(
            event.event_id,
            BY_PAYLOAD[type(event)].name,
            self._now(),
            event.run_id,
            event.session_id,
            self._parent_id,
            context,
            # Not encoded beforehand: as a part of the record it is encoded once. Readers get it as it lies there.
            cast(msgspec.Raw, replace(event, **redactions) if redactions else event),
        )

    def called(self, event: Event, call: HandlerCall) -> None:
        line = self._line(self._call_record, event, call)
        if call.background or self._monotonic() - self._flushed > FLUSH_AFTER_SECONDS:
            self._write(line)
        elif line:
            with self._lock:
                self._waiting.append(line)

    def _call_record(self, event: Event, call: HandlerCall) -> CallRecord:
        handler, would, event_id = call.handler, call.would, event.event_id
        kind = BY_PAYLOAD[type(event)]
        return CallRecord(
            f"{event_id}.{call.position}{call.phase[:1]}",
            event_id,
            kind.name,
            self._now(),
            handler.name,
            LABELS[handler.origin],
            handler.runtime,
            call.position,
            call.outcome,
            int(call.duration_ms * 1000 + 0.5) / 1000,  # to the microsecond; `round` takes three times as long
            handler.digest,
            call.phase,
            call.strict,
            call.message,
            redact.result(call.result if would is None else would.result, kind.result),
            call.stderr,
            None if would is None else would_record(call),
            call.background,
        )

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        self._write(self._line(self._end_record, event, fired, duration_ms))

    def _end_record(self, event: Event, fired: Fired, duration_ms: float) -> EndRecord:
        kind = BY_PAYLOAD[type(event)]
        return EndRecord(
            event.event_id,
            kind.name,
            self._now(),
            fired.ok,
            int(duration_ms * 1000 + 0.5) / 1000,
            fired.stopped,
            fired.reason,
            redact.result(fired.result, kind.result),
            fired.warnings,
        )

    def close(self) -> None:
        self._write(b"")
        with self._lock:
            self._close_segment()

    def _write(self, line: bytes) -> None:
        """Write the lines that wait, and `line`, in one write."""
        with self._lock:
            if self._waiting:
                self._waiting.append(line)
                line = b"".join(self._waiting)
                self._waiting.clear()
            self._flushed = now = self._monotonic()
            if not line or (self._failed_at is not None and now - self._failed_at < RETRY_AFTER_SECONDS):
                return
            self._unchecked_bytes += len(line)
            due = now - self._checked > CHECK_AFTER_SECONDS or self._unchecked_bytes > self._check_after_bytes
            try:
                if self._fd < 0 or (due and self._needs_new_segment()):
                    self._open_segment()
                if (done := os.write(self._fd, line)) < len(line):
                    _write_all(self._fd, line[done:])
                self._failed_at = None
            except (OSError, SamuelError) as error:
                self._fail(error)

    def _needs_new_segment(self) -> bool:
        """True when the segment is full, or is not where it was: removed to make room, or moved by a person."""
        self._checked, self._unchecked_bytes = self._flushed, 0
        now = os.fstat(self._fd)
        try:
            return now.st_size > self._segment_bytes or not os.path.samestat(now, os.lstat(self._segment))
        except OSError:
            return True

    def _open_segment(self) -> None:
        self._close_segment()
        above = make_dirs_inside(self._root, *self._parts[:-1], mode=0o755)
        try:
            _write_gitignore(above)
        finally:
            os.close(above)
        directory = make_dirs_inside(self._root, *self._parts)  # readable only by its owner
        try:
            name, self._fd = _open_newest(directory, self._segment_bytes)
            if self._fd < 0:
                _drop_oldest(directory, self._total_bytes - self._segment_bytes)
                name = next_name(oldest_first(directory), iso(self._now()))
                self._fd = os.open(name, APPEND | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
            self._segment = f"{self._directory}/{name}"
        finally:
            os.close(directory)

    def _close_segment(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _digest(self, context: Any) -> str:
        # The same context goes with many events: digest it once. Read once: another thread may have another one.
        last = self._last_context
        if last[0] is not context:
            last = self._last_context = (context, sha256(self._encode(context)).hexdigest()[:16])
        return last[1]

    def _line(self, record: Callable[..., msgspec.Struct], *about: Any) -> bytes:
        """The record as a line; b"" and a warning if an event or a result is not plain data. The event goes on."""
        try:
            return self._encode(record(*about)) + b"\n"
        except NOT_ENCODABLE as error:
            self._warn(f"the journal leaves out a record that cannot be encoded: {type(error).__name__}: {error}")
            return b""

    def _fail(self, error: Exception) -> None:
        self._failed_at = self._flushed
        self._close_segment()  # the next one that can be opened ends a torn line
        if not self._has_warned:
            from samuel.files.explained import reason  # only for people who have to look at their disk

            self._has_warned = True
            self._warn(f"the journal cannot be written: {reason(error)}")


def _write_gitignore(directory: int) -> None:
    """Keep the state of runs out of commits."""
    try:
        fd = os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=directory)
    except FileExistsError:
        return
    with os.fdopen(fd, "wb") as file:
        file.write(b"*\n")


def _open_newest(directory: int, max_bytes: int) -> tuple[str, int]:
    """The newest private segment of this user, if it has room: its name and its descriptor; else "" and -1.

    A segment from a clone is not private.
    """
    for name in reversed(oldest_first(directory)):
        with suppress(OSError):  # it was removed meanwhile, or may not be opened
            fd = os.open(name, APPEND, dir_fd=directory)
            status = os.fstat(fd)
            private = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
            if private and status.st_size <= max_bytes:
                if status.st_size and os.pread(fd, 1, status.st_size - 1) != b"\n":
                    os.write(fd, b"\n")  # a killed process left a torn line
                return name, fd
            os.close(fd)
            if private:
                break
    return "", -1


def _drop_oldest(directory: int, max_bytes: int) -> None:
    """Remove the oldest segments until the rest has at most `max_bytes`."""
    sizes = {}
    for name in oldest_first(directory):
        with suppress(FileNotFoundError):  # another process removed it too
            sizes[name] = os.stat(name, dir_fd=directory, follow_symlinks=False).st_size
    total = sum(sizes.values())
    for name, size in sizes.items():
        if total <= max_bytes:
            return
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
        total -= size


def _write_all(fd: int, data: bytes) -> None:
    """Write all of `data`. A disk that is full takes a part of it; the next write raises the error."""
    while data:
        data = data[os.write(fd, data) :]


def oldest_first(directory: int | str) -> list[str]:
    """The names of all segments, in the order in which they were begun.

    They are numbered, not sorted by time: a clock that was set back must not put new records before old ones. A
    name without a number, which Samuel did not write, counts as old.
    """
    return sorted(
        (name for name in os.listdir(directory) if name.endswith(".jsonl")), key=lambda name: (_number(name), name)
    )


def next_name(existing: Iterable[str], time: str) -> str:
    """A name for a new segment, which sorts after all others. The time in it is only for people."""
    number = min(max((_number(name) for name in existing), default=0) + 1, _LAST_NUMBER)
    return f"{number:08d}-{time.replace(':', '')}-{os.getpid()}-{os.urandom(3).hex()}.jsonl"


def _number(name: str) -> int:
    number, dash = name[:8], name[8:9]
    return int(number) if dash == "-" and number.isdecimal() else 0
