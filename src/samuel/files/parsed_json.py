"""JSON that a user or a program gave to a command: its value, or a UsageError that names where it came from."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import UsageError
from samuel.files.json import too_deep

MAX_BYTES = 16 * 1024 * 1024
EXAMPLE = """write an object like '{"name": "value"}'"""


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
