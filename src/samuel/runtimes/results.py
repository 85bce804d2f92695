"""The result of a handler, a JSON object: decoded from its output, or encoded from its return value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.files.json import InvalidJson, parse, write


def decode(text: bytes) -> Mapping[str, Any]:
    """The JSON object that a handler wrote; {} (no opinion) if it wrote nothing."""
    return mapping(parse(text)) if text.strip() else {}


def encode(value: object) -> bytes:
    """The return value of a Python handler as JSON; {} (no opinion) for None."""
    return write(mapping({} if value is None else value))


def mapping(value: object) -> Mapping[str, Any]:
    """`value`, if it is a mapping; else InvalidJson."""
    if type(value) is not dict and not isinstance(value, Mapping):  # the first check is much cheaper
        raise InvalidJson(f"a result is an object with keys, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
    return "null" if value is None else kinds.get(type(value), f"`{type(value).__name__}`")
