"""The result of a handler: a JSON object, read from what it wrote or written from what it returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.files.json import InvalidJson, parse, write


def decode(text: bytes) -> Mapping[str, Any]:
    """The JSON object a handler wrote. Nothing at all is an answer too: no opinion."""
    return mapping(parse(text)) if text.strip() else {}


def encode(value: object) -> bytes:
    """A Python handler's return value as JSON. None is no opinion."""
    return write(mapping({} if value is None else value))


def mapping(value: object) -> Mapping[str, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):  # the first is much the cheaper question
        raise InvalidJson(f"a result is an object with keys, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
    return "null" if value is None else kinds.get(type(value), f"`{type(value).__name__}`")
