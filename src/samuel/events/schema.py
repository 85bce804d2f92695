"""JSON Schemas and samples of the events, derived from the catalogue."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import NODEFAULT

from samuel.events.catalogue import EVENTS
from samuel.events.event import PROTOCOL, Event, EventType, LoopEvent


def schema(event: EventType) -> dict[str, Any]:
    """Payload and result of one event as JSON Schema 2020-12."""
    return {
        "event": event.name,
        "protocol": PROTOCOL,
        "composes": event.composition.name,
        "payload": msgspec.json.schema(event.payload),
        "result": msgspec.json.schema(event.result),
    }


def all_schemas() -> dict[str, Any]:
    return {event.name: schema(event) for event in EVENTS}


def own_fields(payload: type[Event]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields an event has besides the common ones."""
    common = (LoopEvent if issubclass(payload, LoopEvent) else Event).__struct_fields__
    return tuple(info for info in msgspec.structs.fields(payload) if info.name not in common)


def marked(struct: type[msgspec.Struct], mark: str) -> tuple[str, ...]:
    """The names of the fields that carry `x-secret` or `x-bulk`."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(name for name, hint in hints.items() if _has_mark(hint, mark))


def sample(event: EventType) -> dict[str, Any]:
    """Plausible values for the fields an event cannot do without."""
    return {
        info.encode_name: _SAMPLES.get(info.name, "sample")
        for info in own_fields(event.payload)
        if info.default is NODEFAULT and info.default_factory is NODEFAULT
    }


def _has_mark(hint: Any, mark: str) -> bool:
    for part in get_args(hint):
        if isinstance(part, msgspec.Meta) and (part.extra_json_schema or {}).get(mark):
            return True
        if _has_mark(part, mark):
            return True
    return False


_SAMPLES: dict[str, Any] = {
    "prd_path": ".samuel/run/prd.toon",
    "max_iterations": 25,
    "task": {"id": "1", "title": "A sample task", "status": "pending"},
    "consec_fails": 0,
    "queue_size": 1,
    "progress_path": ".samuel/run/progress.md",
    "agent": "scripted",
    "prompt": "A sample prompt",
    "exit_code": 0,
    "commands": [],
    "outcome": "completed",
    "iterations_run": 1,
    "exit_reason": "queue_empty",
    "user_message": "A sample message",
    "ability_id": "sample_ability",
    "status": "success",
    "response": "A sample response",
    "turn_number": 1,
}
