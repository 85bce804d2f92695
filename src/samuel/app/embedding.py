"""What a program passes to an opened project: events as plain fields, handlers as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.config.duration import parse_duration
from samuel.config.model import RESERVED_NAMES
from samuel.events import Event, EventType, event_type
from samuel.events.explain import explained
from samuel.hooks.decorator import Declaration, declarations
from samuel.hooks.handler import Handler, HandlerMode, Origin, Role, background_refusal, declared_mode


def payload(name: str, fields: Mapping[str, Any]) -> Event:
    """The typed payload of an event from plain fields, or a UsageError that says which field is wrong."""
    kind = event_type(name)
    unknown = set(fields) - set(kind.payload.__struct_encode_fields__)
    if unknown:
        raise UsageError(
            f"`{kind.name}` has no field `{sorted(unknown)[0]}`", f"see `samuel hooks schema {kind.name}`"
        )
    try:
        return convert({"event": kind.name, **fields}, kind.payload)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"`{kind.name}`: {explained(error, kind.payload)}", f"see `samuel hooks schema {kind.name}`"
        ) from None


def embedded(functions: Iterable[Callable[..., Any]]) -> list[Handler]:
    """Functions of the program that opened the project, as handlers."""
    handlers = []
    for position, function in enumerate(functions):
        declared_events = declarations([(getattr(function, "__name__", type(function).__name__), function)])
        if not declared_events:
            raise UsageError(f"`{function!r}` is not marked with `@samuel.hook`")
        for name, _, declared in declared_events:
            if name in RESERVED_NAMES:
                raise UsageError(f"`{name}` is the name of the built-in handlers", "rename the function")
            kind = event_type(declared.event)
            try:
                settings = _checked(declared, kind)
            except ValueError as error:
                raise UsageError(f"`@samuel.hook` of `{name}`: {error}") from None
            handlers.append(
                Handler(
                    name=name,
                    event=kind.name,
                    origin=Origin.EMBEDDER,
                    runtime="inline",
                    owner=name,
                    function=function,
                    declared=position,
                    **settings,
                )
            )
    return handlers


def _checked(declared: Declaration, kind: EventType) -> dict[str, Any]:
    if declared.order is not None and type(declared.order) is not int:
        raise ValueError(f"`order` is a whole number, not {declared.order!r}")
    strict = False if declared.strict is None else declared.strict
    for name, flag in (("strict", strict), ("serial", declared.serial), ("background", declared.background)):
        if type(flag) is not bool:
            raise ValueError(f"`{name}` is True or False, not {flag!r}")
    role = None if declared.role is None else Role(declared.role)
    if declared.background and (why := background_refusal(kind, role, strict=declared.strict)):
        raise ValueError(why)
    try:
        mode = HandlerMode.ENFORCE if declared.mode is None else declared_mode(declared.mode, kind)
    except ValueError as error:
        raise ValueError(f"`mode` {error}") from None
    return {
        "order": declared.order,
        "strict": declared.strict,
        "timeout": None if declared.timeout is None else parse_duration(declared.timeout),
        "role": role,
        "mode": mode,
        "serial": declared.serial,
        "background": declared.background,
    }
