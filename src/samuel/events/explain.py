"""msgspec's messages about invalid values, with the values that would be allowed."""

from __future__ import annotations

import re
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

_ENUM = r"(?s)Invalid enum value .* - at `\$(.*)`$"
_KEY = r"\.(\w+)"


def explained(error: msgspec.ValidationError, kind: Any) -> str:
    """The message of a validation error; for a value outside of a Literal in `kind`, with the allowed values."""
    message = str(error)
    if not (invalid_enum := re.match(_ENUM, message)):
        return message
    values = _allowed(kind, re.findall(_KEY, invalid_enum[1]))
    return f"{message}; it is one of {', '.join(f'`{value}`' for value in values)}" if values else message


def _allowed(kind: Any, keys: list[str]) -> tuple[Any, ...]:
    """The values of the Literal that `keys` lead to from a type, through lists and unions."""
    for part in _parts(kind):
        if get_origin(part) is Literal and not keys:
            return get_args(part)
        if isinstance(part, type) and issubclass(part, msgspec.Struct) and keys:
            hints = get_type_hints(part)
            if keys[0] in hints:
                return _allowed(hints[keys[0]], keys[1:])
    return ()


def _parts(kind: Any) -> list[Any]:
    """The types that a hint is made of, without the containers around them."""
    if get_origin(kind) in (Union, UnionType, list, tuple):
        return [part for inner in get_args(kind) for part in _parts(inner)]
    return [kind]
