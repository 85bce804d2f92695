"""The payload of a recorded event, as it can be fired again."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import convert, decode_json
from samuel.base.errors import SamuelError
from samuel.events import Event
from samuel.events.catalogue import BY_NAME
from samuel.hooks.handler import Handler, Role
from samuel.hooks.order import Chain
from samuel.journal import redact
from samuel.journal.replay.recorded import JournalledEvent
from samuel.journal.replay.verdict import recorded_verdicts


class NotReplayable(SamuelError):
    """A recorded event that cannot be replayed, and why."""


def replayed_chain(chain: Chain) -> Chain:
    """The chain without its observers: they tell other programs what happens, and it did not happen again."""
    return replace(chain, steps=tuple(step for step in chain.steps if not _only_observes(step.handler)))


def replayed_event(recorded: JournalledEvent, chain: Chain) -> Event:
    """The event that was recorded, with a new id and as a dry run; NotReplayable if the journal has too little."""
    kind = BY_NAME[recorded.event.event]
    if recorded.end is None:
        raise NotReplayable("it has no end: the process was killed")
    observers = {step.handler.name for step in chain.steps if _only_observes(step.handler)}
    for name, verdict in recorded_verdicts(kind, recorded.calls).items():
        if name in observers and verdict.stops:
            raise NotReplayable(f"`{name}` decided it, and observers are not replayed")
    try:
        payload = decode_json(bytes(recorded.event.payload))
        if cut := redact.incomplete(payload, kind.payload):
            raise NotReplayable(f"truncated: the journal has only the beginning of `{cut[0]}`")
        event: Event = convert(payload, kind.payload)
    except (msgspec.MsgspecError, RecursionError, AttributeError):
        raise NotReplayable("its payload is not one of this version") from None
    return replace(event, event_id="", dry_run=True)


def _only_observes(handler: Handler) -> bool:
    return handler.role is Role.OBSERVE
