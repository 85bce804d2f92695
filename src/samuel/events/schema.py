"""JSON Schemas and samples of the events, derived from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UnsetType

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


def plain_fields(payload: type[Event]) -> tuple[dict[str, Any], list[str]]:
    """For a first look at a payload: fields with the name of their type, or with the values they may have.

    And the names of those that must be there. Fields that may be anything are left out.
    """
    hints = get_type_hints(payload)
    kinds = {info.encode_name: _kind(hints[info.name]) for info in msgspec.structs.fields(payload)}
    needed = [info.encode_name for info in msgspec.structs.fields(payload) if info.required]
    return {name: kind for name, kind in kinds.items() if kind}, needed


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


def _kind(hint: Any) -> Any:
    if get_origin(hint) is Literal:
        return get_args(hint)
    (hint, *others) = [part for part in get_args(hint) if part is not UnsetType] if _is_union(hint) else [hint]
    if {hint, *others} == {int, float}:
        return "float"  # a whole number is one too
    if others or hint is Any:
        return None
    origin = get_origin(hint) or hint
    return "dict" if origin is Mapping else origin.__name__


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


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
