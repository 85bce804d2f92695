"""Removes secrets from payloads and results, and cuts long values, before the journal writes them.

The event classes mark the fields that are secret or bulky; nothing here knows an event by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from samuel.events.schema import fields_marked

MAX_VALUE_BYTES = 2048  # of a bulky field; longer values are cut
HIDDEN = "[secret]"

_encode = msgspec.json.Encoder().encode


def result(answer: Mapping[str, Any], shape: type[msgspec.Struct]) -> Any:
    """A handler's result as the journal writes it."""
    if not answer:
        return None
    secret, _ = _marks(shape)
    if not secret and len(text := _encode(answer)) <= MAX_VALUE_BYTES:
        return msgspec.Raw(text)  # the usual case: short, so encode it only once
    return {key: _value(key, value, secret) for key, value in answer.items()}


def fields(payload: msgspec.Struct) -> dict[str, Any]:
    """The fields of a payload that must not be written as they are, with the values to write instead."""
    secret, bulk = _marks(type(payload))
    instead = {}
    for name in (*secret, *bulk):
        value = getattr(payload, name)
        if value is msgspec.UNSET or not value:
            continue
        redacted = _value(name, value, secret)
        if redacted is not value:
            instead[name] = redacted
    return instead


def _value(name: str, value: Any, secret: tuple[str, ...]) -> Any:
    if name in secret:
        return _hide(value)
    text = value.encode() if isinstance(value, str) else _encode(value)
    return value if len(text) <= MAX_VALUE_BYTES else _cut(text)


def _hide(value: Any) -> Any:
    """A mapping without its values. A reference like `$API_KEY` is not a secret: it is resolved in the child."""
    if not isinstance(value, Mapping):
        return HIDDEN
    return {key: item if str(item).startswith("$") else HIDDEN for key, item in value.items()}


def _cut(text: bytes) -> str:
    digest = hashlib.sha256(text).hexdigest()[:16]
    return f"{text[:MAX_VALUE_BYTES].decode('utf-8', 'ignore')}… [{len(text)} bytes, sha256 {digest}]"


@cache
def _marks(struct: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the secret and of the bulky fields. The writer handles `context` and `previous` itself."""
    return fields_marked(struct, "x-secret"), tuple(
        name for name in fields_marked(struct, "x-bulk") if name not in ("context", "previous")
    )
