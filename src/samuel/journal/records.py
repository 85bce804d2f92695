"""The lines of the journal: an `event` when it is fired, a `call` per handler, an `end` with the outcome."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType


class EventRecord(msgspec.Struct, tag_field="kind", tag="event", omit_defaults=True):
    """An event was fired."""

    event_id: str
    event: str
    at: float
    run_id: str | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    parent_id: str = ""  # the event during which this one was fired
    context: str = ""  # a digest: the context itself would repeat in every record
    payload: Raw = Raw(b"{}")


class CallRecord(msgspec.Struct, tag_field="kind", tag="call", omit_defaults=True):
    """A handler was called."""

    call_id: str
    event_id: str
    event: str
    at: float  # seconds since the epoch
    handler: str
    origin: str
    runtime: str
    position: int
    outcome: str
    duration_ms: float
    digest: str = ""
    phase: str = ""
    strict: bool = False
    message: str = ""
    result: Any = None
    stderr: str = ""


class EndRecord(msgspec.Struct, tag_field="kind", tag="end", omit_defaults=True):
    """All handlers of an event were called, and its outcome is known."""

    event_id: str
    event: str
    at: float
    ok: bool
    duration_ms: float
    stopped: bool = False
    reason: str = ""
    result: Any = None
    warnings: tuple[str, ...] = ()


Record = EventRecord | CallRecord | EndRecord
