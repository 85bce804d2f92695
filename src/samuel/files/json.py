"""JSON that programs wrote, parsed to plain values, and plain values written as JSON; or why it is not JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from samuel.base.decoding import decode_json, json_decoder
from samuel.base.errors import UsageError

DEEPEST = 200  # levels of nesting; later code may handle the value deeper in the stack than we do

_encoder = msgspec.json.Encoder()
_decode = json_decoder()
MAX_BYTES = 16 * 1024 * 1024
EXAMPLE = """write an object like '{"name": "value"}'"""


class InvalidJson(Exception):
    """The answer cannot be used; the message says why."""


def parse(text: bytes) -> Any:
    """The JSON value, of whatever kind, that a program wrote."""
    try:
        value = _decode(text)
    except RecursionError:
        raise InvalidJson("JSON nested too deeply") from None
    except UnicodeDecodeError as error:
        raise InvalidJson(f"not UTF-8: byte {error.start}") from None
    except msgspec.MsgspecError as error:
        raise InvalidJson(f"not JSON: {error}; it wrote {excerpt(text)}") from None
    if too_deep(value, text):
        raise InvalidJson("JSON nested too deeply")
    return value


def write(plain: object) -> bytes:
    """A Python value, of whatever kind, as JSON."""
    try:
        text = _encoder.encode(plain)
    except RecursionError:
        raise InvalidJson("the returned value is nested too deeply") from None
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise InvalidJson(f"the returned value is not plain JSON data: {error}") from None
    if too_deep(plain, text):
        raise InvalidJson("the returned value is nested too deeply")
    # The encoder writes NaN and the infinities as null without a word.
    if b"null" in text and _has_nan(plain):
        raise InvalidJson("the returned value contains NaN or infinity, which JSON does not have")
    return text


def too_deep(value: object, text: bytes) -> bool:
    """Is `value`, which is `text` in JSON, nested more deeply than DEEPEST?"""
    if len(text) < 2 * DEEPEST or text.count(b"[") + text.count(b"{") <= DEEPEST:  # the usual case costs little
        return False
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple, set, frozenset)) else ()


def excerpt(text: bytes, most: int = 80) -> str:
    beginning = text[:most].decode("utf-8", "replace").strip()
    return f"`{beginning}`" + ("…" if len(text) > most else "")


def _has_nan(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(_has_nan(item) for item in value.values())
    return isinstance(value, (list, tuple, set, frozenset)) and any(_has_nan(item) for item in value)


def parse_json(data: bytes, source: str) -> Any:
    """The JSON value of `data`; a UsageError that names its source if it is not JSON."""
    try:
        value = decode_json(data)
    except RecursionError:
        raise UsageError(f"{source} is nested too deeply", "make it flatter") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} is not JSON: {error}", EXAMPLE) from None
    if too_deep(value, data):
        raise UsageError(f"{source} is nested too deeply", "make it flatter")
    return value


def within_limit(data: bytes, source: str) -> bytes:
    """The same bytes; a UsageError if there are too many of them. Read one more than MAX_BYTES to notice."""
    if len(data) > MAX_BYTES:
        raise UsageError(f"{source} has more than {MAX_BYTES} bytes", "make it smaller")
    return data
