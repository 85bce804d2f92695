"""The lines of the journal: an `event` when it is fired, a `call` per handler, an `end` with the outcome."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from samuel.dispatch.record import HandlerCall
from samuel.events.event import field


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


class WouldRecord(msgspec.Struct, omit_defaults=True):
    """What an observed handler would have done."""

    verdict: Annotated[
        str,
        field("`deny`, `ask`, `fail` (the event would not be ok), `rewrite`, or `allow` if it had no objection."),
    ]
    reason: Annotated[str, field("Why.")] = ""

    @property
    def text(self) -> str:
        """`would deny: the reason`, or "" if it had no objection."""
        if self.verdict == "allow":
            return ""
        return f"would {self.verdict}: {self.reason}" if self.reason else f"would {self.verdict}"

    @property
    def stops(self) -> bool:
        """True if the event would have been denied, or a person asked."""
        return self.verdict in ("deny", "ask")


def would_record(call: HandlerCall) -> WouldRecord | None:
    """What the journal keeps of an observed call beside its result; None for others."""
    return WouldRecord(call.would.verdict, call.would.reason) if call.would else None


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
    would: WouldRecord | None = None
    background: bool = False  # its answer was not awaited: it may have ended after its event


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
