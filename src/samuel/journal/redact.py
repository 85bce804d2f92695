"""What the journal leaves out of payloads and results: secrets, and the bulk of what is long.

The catalogue says which fields are which; nothing here knows an event by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from samuel.events.schema import fields_marked

KEPT = 2048  # bytes of a bulky value
HIDDEN = "[secret]"

_encode = msgspec.json.Encoder().encode


def result(answer: Mapping[str, Any], shape: type[msgspec.Struct]) -> Any:
    """A result fit to be written down."""
    if not answer:
        return None
    secret, _ = _marks(shape)
    if not secret and len(text := _encode(answer)) <= KEPT:
        return msgspec.Raw(text)  # the usual case: short, and encoded only once
    return {key: _value(key, value, secret) for key, value in answer.items()}


def fields(payload: msgspec.Struct) -> dict[str, Any]:
    """The fields of a payload that cannot be written down as they are, with what to write instead."""
    secret, bulk = _marks(type(payload))
    instead = {}
    for name in (*secret, *bulk):
        value = getattr(payload, name)
        if value is msgspec.UNSET or not value:
            continue
        shown = _value(name, value, secret)
        if shown is not value:
            instead[name] = shown
    return instead


def _value(name: str, value: Any, secret: tuple[str, ...]) -> Any:
    if name in secret:
        return _hide(value)
    text = value.encode() if isinstance(value, str) else _encode(value)
    return value if len(text) <= KEPT else _cut(text)


def _hide(value: Any) -> Any:
    """Names stay, values go. A reference like `$API_KEY` is no secret: it is resolved only in the child."""
    if not isinstance(value, Mapping):
        return HIDDEN
    return {key: item if str(item).startswith("$") else HIDDEN for key, item in value.items()}


def _cut(text: bytes) -> str:
    digest = hashlib.sha256(text).hexdigest()[:16]
    return f"{text[:KEPT].decode('utf-8', 'ignore')}… [{len(text)} bytes, sha256 {digest}]"


@cache
def _marks(struct: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return fields_marked(struct, "x-secret"), tuple(
        n for n in fields_marked(struct, "x-bulk") if n not in ("context", "previous")
    )
