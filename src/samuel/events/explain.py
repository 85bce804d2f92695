"""msgspec's messages about values of a wrong shape, in the words of all other messages."""

from __future__ import annotations

import re
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

# Texts, not compiled: `samuel emit` imports this, and most calls need none of them.
_PLACE = r"(?s)(.*) - at `\$\.?(.*)`"
_TYPES = r"Expected `(.*)`, got `(.*)`"
_MISSING = r"Object missing required field `(.*)`"
_UNKNOWN = r"Object contains unknown field `(.*)`"
_ENUM = r"(?s)Invalid enum value (.*)"
_KEY = r"(?:^|\.)(\w+)"
_NAMES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def explained(error: Exception, kind: Any = None) -> str:
    """What is wrong with a value that is not a `kind`, and where; another error's own message."""
    if not isinstance(error, msgspec.ValidationError):
        return str(error)
    place = re.fullmatch(_PLACE, str(error))
    message, path = (place[1], place[2]) if place else (str(error), "")
    name = f"`{path}`" if path else "it"
    if types := re.fullmatch(_TYPES, message):
        return f"{name} must be {_type_names(types[1])}, not {_type_names(types[2])}"
    if field := re.fullmatch(_MISSING, message):
        return f"`{_joined(path, field[1])}` is missing"
    if field := re.fullmatch(_UNKNOWN, message):
        return f"`{_joined(path, field[1])}` is not a known field"
    if value := re.fullmatch(_ENUM, message):
        values = _allowed(kind, re.findall(_KEY, path))
        one_of = (
            f" must be one of {', '.join(f'`{allowed}`' for allowed in values)}, not" if values else " cannot be"
        )
        quoted = value[1].strip("'")
        return f"{name}{one_of} `{quoted}`"
    return f"{name}: {message}" if path else message


def _type_names(types: str) -> str:
    """`str | null` -> a string or null"""
    return " or ".join(_NAMES.get(name, f"`{name}`") for name in types.split(" | "))


def _joined(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


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
    if get_origin(kind) in (Union, UnionType, list, tuple, dict):
        return [part for inner in get_args(kind) for part in _parts(inner)]
    return [kind]
