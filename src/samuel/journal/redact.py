"""Removes secrets from payloads and results, and cuts long values, before the journal writes them.

The event classes mark the fields that are secret or bulky; nothing here knows an event by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import UNSET

from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.schema import fields_marked

MAX_VALUE_BYTES = 2048  # of a bulky field; longer values are cut
# Of a bulky field of an event that can be denied: such events are replayed, which a value that was cut prevents.
MAX_REPLAYED_BYTES = 16 * 1024
HIDDEN = "[secret]"

_encode = msgspec.json.Encoder().encode
_CUT = r"… \[\d+ bytes, sha256 [0-9a-f]{16}\]\Z"


def result(answer: Mapping[str, Any], shape: type[msgspec.Struct]) -> Any:
    """A handler's result as the journal writes it."""
    if not answer:
        return None
    secret = _marks(shape)[0]
    if not secret and len(text := _encode(answer)) <= MAX_VALUE_BYTES:
        return msgspec.Raw(text)  # the usual case: short, so encode it only once
    return {key: _value(key, value, secret) for key, value in answer.items()}


def fields(payload: Event) -> dict[str, Any]:
    """The fields of a payload that must not be written as they are, with the values to write instead."""
    secret, names, limit = _limits(type(payload))
    instead: dict[str, Any] = {}
    for name in names:
        value = getattr(payload, name)
        if value is UNSET or not value:
            continue
        redacted = _value(name, value, secret, limit)
        if redacted is not value:
            instead[name] = redacted
    return instead


def incomplete(payload: Mapping[str, Any], shape: type[Event]) -> list[str]:
    """The fields of a payload in the journal that are not as they were: secret, or cut."""
    secret, bulk = _marks(shape)
    hidden = [name for name in secret if payload.get(name)]
    return [
        *hidden,
        *(name for name in bulk if isinstance(value := payload.get(name), str) and re.search(_CUT, value)),
    ]


def _value(name: str, value: Any, secret: tuple[str, ...], limit: int = MAX_VALUE_BYTES) -> Any:
    if name in secret:
        return _hide(value)
    text = value.encode() if isinstance(value, str) else _encode(value)
    return value if len(text) <= limit else _cut(text, limit)


def _hide(value: Any) -> Any:
    """A mapping without its values. A reference like `$API_KEY` is not a secret: it is resolved in the child."""
    if not isinstance(value, Mapping):
        return HIDDEN
    return {key: item if str(item).startswith("$") else HIDDEN for key, item in value.items()}


def _cut(text: bytes, limit: int) -> str:
    digest = sha256(text).hexdigest()[:16]
    return f"{text[:limit].decode('utf-8', 'ignore')}… [{len(text)} bytes, sha256 {digest}]"


@cache
def _limits(payload: type[Event]) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """The names of the secret fields and of all marked ones, and the bytes that a bulky one may have."""
    secret, bulk = _marks(payload)
    limit = MAX_REPLAYED_BYTES if BY_PAYLOAD[payload].composition.can_deny else MAX_VALUE_BYTES
    return secret, (*secret, *bulk), limit


@cache
def _marks(struct: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the secret and of the bulky fields. The writer handles `context` and `previous` itself."""
    return fields_marked(struct, "x-secret"), tuple(
        name for name in fields_marked(struct, "x-bulk") if name not in ("context", "previous")
    )
