"""JSON Schemas and samples of the events, derived from the catalogue."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

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
    """The schemas of all events, by event name."""
    return {event.name: schema(event) for event in EVENTS}


def own_fields(payload: type[Event]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of an event that not all events, or all loop events, have."""
    common = (LoopEvent if issubclass(payload, LoopEvent) else Event).__struct_fields__
    return tuple(info for info in msgspec.structs.fields(payload) if info.name not in common)


def fields_marked(struct: type[msgspec.Struct], mark: str) -> tuple[str, ...]:
    """The names of the fields with `mark`: `x-secret` or `x-bulk`."""
    return tuple(name for name, marks in _marks_by_field(struct).items() if mark in marks)


@cache
def _marks_by_field(struct: type[msgspec.Struct]) -> dict[str, frozenset[str]]:
    """The marks of each field of a struct.

    Cached by class, and evaluated class by class: all payloads inherit the many annotations of `Event`.
    """
    base = struct.__base__
    inherited = _marks_by_field(base) if base is not None and issubclass(base, msgspec.Struct) else {}
    own = _annotations(struct)
    return {**inherited, **{name: frozenset(_marks(hint)) for name, hint in own.items()}}


def _annotations(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """What `inspect.get_annotations` gives, without importing it: it takes longer than the rest of an event."""
    if sys.version_info >= (3, 14):
        import inspect  # earlier versions do without it

        return inspect.get_annotations(struct, eval_str=True)
    names = vars(sys.modules[struct.__module__])
    hints = vars(struct).get("__annotations__", {})
    return {name: eval(hint, names) if isinstance(hint, str) else hint for name, hint in hints.items()}


def sample(event: EventType) -> dict[str, Any]:
    """Plausible values for the required fields of an event."""
    return {
        info.encode_name: _SAMPLES.get(info.name, "sample")
        for info in own_fields(event.payload)
        if info.default is NODEFAULT and info.default_factory is NODEFAULT
    }


def _marks(hint: Any) -> Iterator[str]:
    """The marks in a type hint, however deep."""
    for part in get_args(hint):
        if isinstance(part, msgspec.Meta):
            yield from part.extra_json_schema or {}
        else:
            yield from _marks(part)


_SAMPLES: dict[str, Any] = {
    "path": "notes.todo",
    "text": "TODO: store prices",
    "prd_path": ".samuel/run/prd.toon",
    "max_iterations": 25,
    "task": {"id": "1", "title": "A sample task", "status": "pending"},
    "tasks": ["1"],
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "base": "89abcdef0123456789abcdef0123456789abcdef",
    "branch": "main",
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
