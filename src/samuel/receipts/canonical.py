"""Canonical JSON by RFC 8785, of which a receipt has no floating-point numbers: one value has one text."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value of objects, lists, texts, integers, booleans and null. Raises ValueError."""
    _refuse_others(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def digest_of(value: Any) -> str:
    """The sha256 of the canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _refuse_others(value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not (isinstance(key, str) and key.isascii()):  # Python sorts others in another way than the RFC
                raise ValueError(f"the key `{key!r}` is not an ASCII text")
            _refuse_others(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_others(item)
    elif isinstance(value, float):
        raise ValueError(f"`{value}` is not an integer")
    elif isinstance(value, int) and abs(value) >= 1 << 53:
        raise ValueError(f"`{value}` is too large")
