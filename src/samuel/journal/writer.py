"""Writing the journal: append-only lines, readable while they are written, by any number of processes at once.

All append to the newest segment, each time with one write, which the kernel does not mix with another's. A
process that was killed half-way leaves a torn line; whoever opens the segment next ends it. A journal that cannot
be written costs one warning, never the event.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.clock import Clock, iso
from samuel.dispatch.record import Fired, HandlerCall
from samuel.errors import SamuelError
from samuel.events import Event, LoopEvent
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.inside import make_dirs_inside
from samuel.hooks.handler import Origin
from samuel.journal import redact
from samuel.journal.records import CallRecord, EndRecord, EventRecord
from samuel.journal.segments import next_name, oldest_first

SEGMENT_BYTES = 8 * 1024 * 1024
TOTAL_BYTES = 64 * 1024 * 1024
# What took long is on disk as soon as it ended; what was quick goes with the end of its event, in one write.
FLUSH_AFTER_SECONDS = 0.05
# To look at the segment costs as much as to write to it.
LOOK_AFTER_SECONDS = 0.05

NOT_ENCODABLE = (RecursionError, TypeError, ValueError, OverflowError, msgspec.MsgspecError)
# A pipe in its place must not make us wait.
APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
LABELS = {origin: origin.label for origin in Origin}


class Journal:
    """The sink that writes everything down."""

    def __init__(
        self,
        root: Path,
        place: Path,
        clock: Clock,
        warn: Callable[[str], None],
        parent_id: str = "",
        segment_bytes: int = SEGMENT_BYTES,
        total_bytes: int = TOTAL_BYTES,
    ) -> None:
        self._root = root
        self._parts = place.relative_to(root).parts
        self._clock = clock
        self._warn = warn
        self._parent_id = parent_id
        self._segment_bytes = segment_bytes
        self._total_bytes = total_bytes
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._flushed = 0.0
        self._looked = 0.0  # when we last looked what others made of the segment
        self._unseen = 0  # bytes of ours since then
        self._fd = -1
        self._broken = False
        self._encode = msgspec.json.Encoder().encode
        self._last_context: tuple[Any, str] = (None, "")

    def begin(self, event: Event) -> None:
        try:
            self._begin(event)
        except NOT_ENCODABLE as error:
            self._left_out(error)
        self._flush()

    def _begin(self, event: Event) -> None:
        instead = redact.fields(event)
        context = ""
        if isinstance(event, LoopEvent) and event.context:
            context = self._digest(event.context)
            instead["context"] = {}
        shown = replace(event, **instead) if instead else event
        self._add(
            EventRecord(
                event.event_id,
                BY_PAYLOAD[type(event)].name,
                self._clock.now(),
                event.run_id,
                event.session_id,
                self._parent_id,
                context,
                msgspec.Raw(self._encode(shown)),
            )
        )

    def called(self, event: Event, call: HandlerCall) -> None:
        try:
            self._called(event, call)
        except NOT_ENCODABLE as error:
            self._left_out(error)
        if self._clock.monotonic() - self._flushed > FLUSH_AFTER_SECONDS:
            self._flush()

    def _called(self, event: Event, call: HandlerCall) -> None:
        handler = call.handler
        kind = BY_PAYLOAD[type(event)]
        self._add(
            CallRecord(
                f"{event.event_id}.{call.position}{call.phase[:1]}",
                event.event_id,
                kind.name,
                self._clock.now(),
                handler.name,
                LABELS[handler.origin],
                handler.runtime,
                call.position,
                call.outcome,
                round(call.duration_ms, 3),
                handler.digest,
                call.phase,
                call.strict,
                call.message,
                redact.result(call.result, kind.result),
                call.stderr,
            )
        )

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        try:
            self._end(event, fired, duration_ms)
        except NOT_ENCODABLE as error:
            self._left_out(error)
        self._flush()

    def _end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        kind = BY_PAYLOAD[type(event)]
        self._add(
            EndRecord(
                event.event_id,
                kind.name,
                self._clock.now(),
                fired.ok,
                round(duration_ms, 3),
                fired.stopped,
                fired.reason,
                redact.result(fired.result, kind.result),
                fired.warnings,
            )
        )

    def close(self) -> None:
        self._flush()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _add(self, record: msgspec.Struct) -> None:
        line = self._encode(record) + b"\n"
        with self._lock:
            self._waiting.append(line)

    def _flush(self) -> None:
        with self._lock:
            lines, self._waiting = b"".join(self._waiting), []
            self._flushed = now = self._clock.monotonic()
            if not lines or self._broken:
                return
            self._unseen += len(lines)
            due = now - self._looked > LOOK_AFTER_SECONDS or self._unseen > self._segment_bytes // 100
            try:
                if self._fd < 0 or (due and self._full()):
                    self._open_segment()
                if (done := os.write(self._fd, lines)) < len(lines):
                    _write_all(self._fd, lines[done:])
            except (OSError, SamuelError) as error:
                self._fail(f"{error}")

    def _full(self) -> bool:
        """No room in it, or none left of it: others make room by removing the oldest."""
        self._looked, self._unseen = self._flushed, 0
        now = os.fstat(self._fd)
        return now.st_size > self._segment_bytes or not now.st_nlink

    def _open_segment(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        above = make_dirs_inside(self._root, *self._parts[:-1], mode=0o755)
        try:
            _ignore(above)
        finally:
            os.close(above)
        directory = make_dirs_inside(self._root, *self._parts)  # nobody else's to read
        try:
            self._fd = _open_newest(directory, self._segment_bytes)
            if self._fd < 0:
                _drop_oldest(directory, self._total_bytes - self._segment_bytes)
                name = next_name(oldest_first(directory), iso(self._clock.now()))
                self._fd = os.open(name, APPEND | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
        finally:
            os.close(directory)

    def _digest(self, context: Any) -> str:
        # The same context goes with many events: digest it once.
        if self._last_context[0] is not context:
            self._last_context = (context, hashlib.sha256(self._encode(context)).hexdigest()[:16])
        return self._last_context[1]

    def _left_out(self, error: Exception) -> None:
        """Somebody fired an event with what is no plain data. The event goes on, and so does the journal."""
        self._warn(f"the journal leaves out a record that cannot be encoded: {type(error).__name__}: {error}")

    def _fail(self, why: str) -> None:
        if not self._broken:
            self._broken = True
            self._warn(f"the journal cannot be written: {why}")


def _ignore(directory: int) -> None:
    """What a run leaves behind does not belong into anybody's commit."""
    try:
        fd = os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=directory)
    except FileExistsError:
        return
    with os.fdopen(fd, "wb") as file:
        file.write(b"*\n")


def _open_newest(directory: int, most: int) -> int:
    """The newest segment of ours, if there is room in it; else -1. What came with a clone is not ours."""
    for name in reversed(oldest_first(directory)):
        with suppress(OSError):  # gone meanwhile, or not for us to open
            fd = os.open(name, APPEND, dir_fd=directory)
            found = os.fstat(fd)
            private = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
            if private and found.st_size <= most:
                if found.st_size and os.pread(fd, 1, found.st_size - 1) != b"\n":
                    os.write(fd, b"\n")  # whoever wrote last did not come to the end
                return fd
            os.close(fd)
            if private:
                break
    return -1


def _drop_oldest(directory: int, most: int) -> None:
    """Keep the whole below its cap."""
    sizes = {}
    for name in oldest_first(directory):
        with suppress(FileNotFoundError):  # another process makes room too
            sizes[name] = os.stat(name, dir_fd=directory, follow_symlinks=False).st_size
    total = sum(sizes.values())
    for name, size in sizes.items():
        if total <= most:
            return
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
        total -= size


def _write_all(fd: int, data: bytes) -> None:
    """A disk that fills up takes a part of it, and then gives the reason."""
    while data:
        data = data[os.write(fd, data) :]
