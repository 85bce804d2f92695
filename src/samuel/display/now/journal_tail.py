"""The last events of a run in the journal, with what hooks said about them: read as the journal grows."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import json_decoder
from samuel.base.errors import SamuelError
from samuel.clients.adapter.tool_words import tool_words
from samuel.events.names import PRE_ABILITY_CALL
from samuel.files.inside import open_inside
from samuel.files.tail import FileTail
from samuel.hooks.handler import Outcome
from samuel.journal.records import CallRecord, EndRecord, EventRecord
from samuel.journal.writer import oldest_first

MOST_EVENTS = 200
MOST_DENIALS = 50
MOST_AT_ONCE = 2 * 1024 * 1024  # bytes that one look reads

_decode = json_decoder(EventRecord | CallRecord | EndRecord)
_decode_payload = json_decoder(dict[str, Any])


class HookCall(msgspec.Struct, frozen=True, kw_only=True):
    """One handler of an event."""

    handler: str
    outcome: str
    duration_ms: float
    message: str = ""
    would: str = ""
    """What it would have done, if it is only observed."""


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a run, and what its handlers said."""

    event_id: str
    event: str
    at: float
    iteration: int = 0
    subject: str = ""
    """Of a tool call: what it does, in words."""
    verdict: str = ""
    """`ok`, `denied`, `asked`, `rewritten` or `failed`; "" until its handlers have answered."""
    why: str = ""
    duration_ms: float = 0.0
    calls: tuple[HookCall, ...] = ()

    @property
    def is_tool_call(self) -> bool:
        return self.event == PRE_ABILITY_CALL


class JournalTail:
    """Follows the journal of a project for one run. Of more than one look reads, the end counts."""

    def __init__(self, root: Path, journal: Path, run_id: str) -> None:
        self._root = root
        self._parts = journal.relative_to(root).parts
        self._run_id = run_id
        self._segment = ""
        self._tail: FileTail | None = None
        self._events: dict[str, HookEvent] = {}  # the newest last
        self._denials: deque[HookEvent] = deque(maxlen=MOST_DENIALS)

    @property
    def events(self) -> tuple[HookEvent, ...]:
        return tuple(self._events.values())

    @property
    def denials(self) -> tuple[HookEvent, ...]:
        return tuple(self._denials)

    def look(self) -> bool:
        """Read what is new; whether anything of this run is."""
        changed = False
        for name in self._new_segments():
            if self._tail is not None:
                changed |= self._read(self._tail)
            if name != self._segment:
                self._segment = name
                self._tail = FileTail(self._root.joinpath(*self._parts), name, MOST_AT_ONCE)
                changed |= self._read(self._tail)
        return changed

    def _new_segments(self) -> list[str]:
        """The segment that is read, and those after it; at first the last two."""
        try:
            directory = open_inside(self._root, *self._parts, flags=os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, SamuelError):
            return []
        try:
            names = oldest_first(directory)
        finally:
            os.close(directory)
        return names[names.index(self._segment) :] if self._segment in names else names[-2:]

    def _read(self, tail: FileTail) -> bool:
        changed = False
        for line in tail.read().lines:
            try:
                record = _decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            changed |= self._take(record)
        while len(self._events) > MOST_EVENTS:
            del self._events[next(iter(self._events))]
        return changed

    def _take(self, record: EventRecord | CallRecord | EndRecord) -> bool:
        if isinstance(record, EventRecord):
            session = record.session_id if isinstance(record.session_id, str) else ""
            if record.run_id != self._run_id and not session.startswith(f"{self._run_id}-"):
                return False
            self._events[record.event_id] = _begun(record, session.removeprefix(f"{self._run_id}-"))
            return True
        event = self._events.get(record.event_id)
        if event is None:
            return False
        if isinstance(record, CallRecord):
            event = msgspec.structs.replace(event, calls=(*event.calls, _call(record)))
        else:
            event = _ended(event, record)
            if event.verdict in ("denied", "asked"):
                self._denials.append(event)
        self._events[record.event_id] = event
        return True


def _begun(record: EventRecord, iteration: str) -> HookEvent:
    subject = ""
    if record.event == PRE_ABILITY_CALL:
        payload = _decode_payload(bytes(record.payload))
        subject = tool_words(payload.get("ability_id"), payload.get("tool_input"))
    return HookEvent(
        event_id=record.event_id,
        event=record.event,
        at=record.at,
        iteration=int(iteration) if iteration.isascii() and iteration.isdecimal() else 0,
        subject=subject,
    )


def _call(record: CallRecord) -> HookCall:
    return HookCall(
        handler=record.handler,
        outcome=record.outcome,
        duration_ms=record.duration_ms,
        message=record.message,
        would=record.would.text if record.would else "",
    )


def _ended(event: HookEvent, record: EndRecord) -> HookEvent:
    result = record.result if isinstance(record.result, dict) else {}
    is_denied = any(call.outcome == Outcome.DENIED for call in event.calls)
    if is_denied or (record.stopped and event.is_tool_call):
        verdict = "denied"
    elif result.get("decision") == "ask":
        verdict = "asked"
    elif event.is_tool_call and result.get("tool_input"):
        verdict = "rewritten"
    else:
        verdict = "ok" if record.ok else "failed"
    return msgspec.structs.replace(event, verdict=verdict, why=record.reason, duration_ms=record.duration_ms)
